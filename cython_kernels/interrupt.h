/* Ctrl-C while a kernel runs on the main thread.
 *
 * Python hears of SIGINT between two of its instructions, so not before a kernel returns. Here the handler in
 * place is kept behind one of ours for as long as a run lasts: while a kernel runs (stop[1] of abi.h) the signal
 * is left in stop[0], where the kernel's loops find it; else, and at the second Ctrl-C, the handler behind has it.
 */
#ifndef GASLAB_INTERRUPT_H
#define GASLAB_INTERRUPT_H
#include <signal.h>
#include <string.h>

#include "abi.h"

static int32_t *volatile gl_stop;              /* of the run on the main thread that began last, or NULL */
static struct sigaction gl_behind;

static void gl_on_interrupt(int number, siginfo_t *info, void *context) {
    int32_t *const stop = gl_stop;
    int32_t none = 0;
    if (stop && __atomic_load_n(&stop[1], __ATOMIC_RELAXED) &&
        __atomic_compare_exchange_n(&stop[0], &none, GL_FAULT_INTERRUPT, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return;
    if (gl_behind.sa_flags & SA_SIGINFO)
        gl_behind.sa_sigaction(number, info, context);
    else if (gl_behind.sa_handler != SIG_IGN && gl_behind.sa_handler != SIG_DFL)
        gl_behind.sa_handler(number);
}

static int gl_is_ours(void) {
    struct sigaction now;
    return !sigaction(SIGINT, NULL, &now) && now.sa_flags & SA_SIGINFO && now.sa_sigaction == gl_on_interrupt;
}

/* Let SIGINT be heard by this run; return that of the run around it, NULL if there is none. */
static int32_t *gl_listen(int32_t *stop) {
    int32_t *const around = gl_stop;
    struct sigaction mine;
    gl_stop = stop;
    if (!gl_is_ours()) {
        memset(&mine, 0, sizeof mine);
        sigemptyset(&mine.sa_mask);
        mine.sa_flags = SA_SIGINFO | SA_ONSTACK;
        mine.sa_sigaction = gl_on_interrupt;
        sigaction(SIGINT, &mine, &gl_behind);
    }
    return around;
}

/* The run is over: SIGINT is the run's around it again, or the handler's that was in place before. */
static void gl_leave(int32_t *around) {
    gl_stop = around;
    if (!around && gl_is_ours()) sigaction(SIGINT, &gl_behind, NULL);
}
#endif
