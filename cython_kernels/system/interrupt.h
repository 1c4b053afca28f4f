/* Ctrl-C while a run lasts on the main thread.
 *
 * Python handles SIGINT between two of its instructions, so not before a kernel returns; and where that is within a
 * callback of its own (of a weak reference, a finaliser) it drops the exception. For as long as a run lasts, our
 * handler stands before the one in place: it stores the first signal in stop[0], where the kernels' loops find it.
 * Where no kernel runs (stop[1] of abi.h), and at the second Ctrl-C, it calls the handler behind it too.
 */
#ifndef GASLAB_INTERRUPT_H
#define GASLAB_INTERRUPT_H
#include <signal.h>
#include <string.h>

#include "abi.h"

typedef struct gl_listener {
    int32_t *stop;
    struct gl_listener *around;                /* the run within which this one began, or NULL */
} gl_listener;

static gl_listener *gl_innermost;              /* of the runs on the main thread */
static int32_t *volatile gl_stop;              /* the innermost run's, or NULL */
static struct sigaction gl_behind;

static void gl_on_interrupt(int number, siginfo_t *info, void *context) {
    int32_t *const stop = gl_stop;
    int32_t none = 0;
    /* Stored before stop[1] is read: on another thread than the main one, a kernel may begin in between. */
    const int first = stop && __atomic_compare_exchange_n(&stop[0], &none, GL_FAULT_INTERRUPT, 0,
                                                          __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
    if (first && __atomic_load_n(&stop[1], __ATOMIC_SEQ_CST)) return;
    if (gl_behind.sa_flags & SA_SIGINFO)
        gl_behind.sa_sigaction(number, info, context);
    else if (gl_behind.sa_handler != SIG_IGN && gl_behind.sa_handler != SIG_DFL)
        gl_behind.sa_handler(number);
}

static int gl_is_ours(void) {
    struct sigaction now;
    return !sigaction(SIGINT, NULL, &now) && now.sa_flags & SA_SIGINFO && now.sa_sigaction == gl_on_interrupt;
}

/* Let SIGINT end this run. */
static void gl_listen(gl_listener *run) {
    struct sigaction mine;
    run->around = gl_innermost;
    gl_innermost = run;
    gl_stop = run->stop;
    if (!gl_is_ours()) {
        memset(&mine, 0, sizeof mine);
        sigemptyset(&mine.sa_mask);
        mine.sa_flags = SA_SIGINFO | SA_ONSTACK;
        mine.sa_sigaction = gl_on_interrupt;
        sigaction(SIGINT, &mine, &gl_behind);
    }
}

/* The run is over, the innermost or another: SIGINT goes to the innermost of the others, or to the handler that
 * was in place before the first. */
static void gl_leave(gl_listener *run) {
    gl_listener **at = &gl_innermost;
    while (*at && *at != run) at = &(*at)->around;
    if (*at) *at = run->around;
    gl_stop = gl_innermost ? gl_innermost->stop : NULL;
    if (!gl_innermost && gl_is_ours()) sigaction(SIGINT, &gl_behind, NULL);
}
#endif
