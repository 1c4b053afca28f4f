/* Children of a fork that can compute.
 *
 * GCC's OpenMP keeps the threads of a region for the next one. A fork copies the list of these threads, but none of
 * the threads: the child would wait for them for ever. So they are ended before every fork, and parent and child start
 * new ones when they need some. An OpenMP that cannot end its threads (before GCC 9) gives the child one thread.
 */
#ifndef GASLAB_FORKS_H
#define GASLAB_FORKS_H

#ifdef _OPENMP
#include <omp.h>
#include <pthread.h>

/* The omp_pause_resource_all of OpenMP 5, under another name: an older <omp.h> and an older library lack it. */
extern int gl_pause_resources(int kind) __asm__("omp_pause_resource_all") __attribute__((weak));

enum { GL_PAUSE_HARD = 2 };                    /* omp_pause_hard */

static void gl_end_threads(void) { gl_pause_resources(GL_PAUSE_HARD); }
static void gl_allow_one_thread(void) { omp_set_max_active_levels(0); }

/* Handle all forks from now on; returns 0, or an error number. */
static int gl_handle_forks(int ending) {
    if (ending && gl_pause_resources) return pthread_atfork(gl_end_threads, NULL, NULL);
    return pthread_atfork(NULL, NULL, gl_allow_one_thread);
}
#else
static int gl_handle_forks(int ending) { return 0; }
#endif
#endif
