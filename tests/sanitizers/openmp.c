/* OpenMP over pthreads, as much as the kernels use: libgomp waits on futexes that ThreadSanitizer does not see,
   so that it would report every loop. Loaded before libgomp by `make sanitize SANITIZERS=thread`.
   The threads of a region begin at its start and are joined at its end; iterations are handed out by relaxed
   atomics, which order nothing: two threads are ordered only by what the OpenMP standard says. */

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

enum { LOOPS = 64, THREADS = 256 };

struct loop {
    bool begun;
    long next, end, chunk;
};

struct team {
    void (*body)(void *);
    void *data;
    unsigned threads;
    pthread_barrier_t barrier;
    pthread_mutex_t mutex;
    struct loop loops[LOOPS];
};

struct member {
    struct team *team;
    unsigned number;
    unsigned loops; /* that this thread has begun */
};

static __thread struct member *me;

static void *run(void *argument) {
    struct member *outer = me;
    me = argument;
    me->team->body(me->team->data);
    me = outer;
    return NULL;
}

int omp_get_max_threads(void) {
    const char *asked = getenv("OMP_NUM_THREADS");
    int threads = asked ? atoi(asked) : 0;
    return threads > 0 ? threads : (int)sysconf(_SC_NPROCESSORS_ONLN);
}

int omp_get_num_threads(void) { return me ? (int)me->team->threads : 1; }

int omp_get_thread_num(void) { return me ? (int)me->number : 0; }

void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags) {
    (void)flags;
    if (me) threads = 1; /* regions are not nested */
    if (!threads) threads = (unsigned)omp_get_max_threads();
    if (threads > THREADS) abort();
    struct team *team = calloc(1, sizeof *team);
    struct member *members = calloc(threads, sizeof *members);
    pthread_t ids[THREADS];
    if (!team || !members) abort();
    team->body = body;
    team->data = data;
    team->threads = threads;
    pthread_barrier_init(&team->barrier, NULL, threads);
    pthread_mutex_init(&team->mutex, NULL);
    for (unsigned k = threads; k-- > 0;) {
        members[k] = (struct member){team, k, 0};
        if (!k) run(&members[k]);
        else if (pthread_create(&ids[k], NULL, run, &members[k])) abort();
    }
    for (unsigned k = 1; k < threads; k++) pthread_join(ids[k], NULL);
    pthread_barrier_destroy(&team->barrier);
    pthread_mutex_destroy(&team->mutex);
    free(members);
    free(team);
}

void GOMP_barrier(void) {
    if (me) pthread_barrier_wait(&me->team->barrier);
}

bool GOMP_loop_nonmonotonic_dynamic_next(long *first, long *end) {
    struct loop *loop = &me->team->loops[me->loops - 1];
    long at = __atomic_fetch_add(&loop->next, loop->chunk, __ATOMIC_RELAXED);
    if (at >= loop->end) return false;
    *first = at;
    *end = at + loop->chunk < loop->end ? at + loop->chunk : loop->end;
    return true;
}

bool GOMP_loop_nonmonotonic_dynamic_start(long start, long end, long step, long chunk, long *first, long *last) {
    if (step != 1 || me->loops == LOOPS) abort();
    struct loop *loop = &me->team->loops[me->loops++];
    pthread_mutex_lock(&me->team->mutex);
    if (!loop->begun) {
        loop->end = end;
        loop->chunk = chunk;
        __atomic_store_n(&loop->next, start, __ATOMIC_RELAXED);
        loop->begun = true;
    }
    pthread_mutex_unlock(&me->team->mutex);
    return GOMP_loop_nonmonotonic_dynamic_next(first, last);
}

void GOMP_loop_end_nowait(void) {}
