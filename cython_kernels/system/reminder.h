/* A thread that writes a line to standard error unless it is cancelled within some seconds. */
#ifndef GASLAB_REMINDER_H
#define GASLAB_REMINDER_H
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct gl_reminder {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct timespec due;                       /* by CLOCK_MONOTONIC */
    const char *line;
    int cancelled;
} gl_reminder;

static void *gl_wait_and_write(void *argument) {
    gl_reminder *const self = argument;
    int late = 0;
    pthread_mutex_lock(&self->lock);
    while (!self->cancelled && !late)
        late = pthread_cond_timedwait(&self->changed, &self->lock, &self->due) == ETIMEDOUT;
    if (!self->cancelled && write(2, self->line, strlen(self->line)) < 0) { /* nobody to remind */ }
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

/* Return 0, or an error number: then nothing is to be cancelled. */
static int gl_remind(gl_reminder *self, double seconds, const char *line) {
    sigset_t all, before;
    pthread_condattr_t clock;
    int error;
    clock_gettime(CLOCK_MONOTONIC, &self->due);
    self->due.tv_sec += (time_t)seconds;
    self->line = line;
    self->cancelled = 0;
    pthread_mutex_init(&self->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&self->changed, &clock);
    pthread_condattr_destroy(&clock);
    sigfillset(&all);                          /* signals are for the threads that were there before */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&self->thread, NULL, gl_wait_and_write, self);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static void gl_cancel(gl_reminder *self) {
    pthread_mutex_lock(&self->lock);
    self->cancelled = 1;
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->lock);
    pthread_join(self->thread, NULL);
}
#endif
