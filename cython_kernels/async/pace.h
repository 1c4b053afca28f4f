/* Which round, or which priority, a rank may begin, given how far the other ranks are.
 *
 * Masters are taken from a scheduler in numbered rounds. Ranks that *count* send each other the number of the last
 * round that they have finished. A rank on which no or few masters wait does not count, and no rank waits for it.
 *
 * Ranks *keep pace* where rounds are big: a quicker rank would run its vertices again and again on values that the
 * others have not yet updated, in vain. So a rank begins a round when the others have finished most of its last.
 *
 * Ranks *take turns* where vertices of two ranks may be rivals for a scope: in each round first the least of these
 * ranks, then the next, and again from the first. Ranks that are not rivals have their turns at once. (Barbosa
 * and Gafni: Concurrency in heavily loaded neighborhood-constrained systems, 1989: scheduling by edge reversal.)
 *
 * A rank that is behind, or that begins to count, skips numbers. No rank waits for ever: of the ranks that count,
 * take the one whose next round has the least number, and of several the least rank. Every rank that it waits for
 * has finished the round that it waits for.
 *
 * With a scheduler by *priority* there are no rounds. Ranks send each other their fronts, the least priority that
 * waits on each, and a rank begins no vertex above the least front of the others: most of what it would do early
 * would have to be done again. No rank waits for ever: when all records have arrived, the rank with the least
 * front may begin.
 */
#ifndef GASLAB_PACE_H
#define GASLAB_PACE_H
#include <stdint.h>
#include "buckets.h"

enum { GL_NOT_COUNTING = INT32_MAX, GL_NOT_SENT = -1 };

typedef struct gl_pace {
    int32_t rank, ranks;
    int32_t round;                      /* the last that this rank began; 0: it does not count */
    int32_t *done;                      /* [ranks] the last round that each has finished, or GL_NOT_COUNTING */
    int64_t *front;                     /* [ranks] each one's front, GL_NEVER if no vertex waits, or GL_NOT_SENT */
    const uint8_t *rivals;              /* [ranks] whether the rank takes turns with this one */
} gl_pace;

/* Note the last finished round. Here and below: return whether the other ranks must be sent it. */
static inline int gl_set_done(gl_pace *p, int32_t done) {
    const int changed = p->done[p->rank] != done;
    p->done[p->rank] = done;
    return changed;
}

static inline int gl_end_round(gl_pace *p) { return gl_set_done(p, p->round); }

static inline int gl_stop_counting(gl_pace *p) {
    p->round = 0;
    return gl_set_done(p, GL_NOT_COUNTING);
}

/* ---- pace ---- */

static inline int gl_in_pace(const gl_pace *p) {
    for (int q = 0; q < p->ranks; q++)
        if (q != p->rank && p->done[q] < p->round) return 0;
    return 1;
}

/* Begin the round after the last that any other rank has finished. */
static inline int gl_begin_round(gl_pace *p) {
    int32_t most = p->round;
    for (int q = 0; q < p->ranks; q++)
        if (p->done[q] != GL_NOT_COUNTING && p->done[q] > most) most = p->done[q];
    p->round = most + 1;
    return p->done[p->rank] == GL_NOT_COUNTING && gl_set_done(p, most);
}

/* ---- priorities ---- */

static inline int gl_set_front(gl_pace *p, int64_t front) {
    const int changed = p->front[p->rank] != front;
    p->front[p->rank] = front;
    return changed;
}

static inline int64_t gl_ceiling(const gl_pace *p) {
    int64_t least = GL_NEVER - 1;
    for (int q = 0; q < p->ranks; q++)
        if (q != p->rank && p->front[q] < least) least = p->front[q];
    return least;
}

/* ---- turns ---- */

/* Wait for a turn: count, from the round at which the rivals are. Not during a turn. */
static inline int gl_stand_in_line(gl_pace *p) {
    for (int q = 0; q < p->ranks; q++) {
        const int32_t theirs = p->done[q] - (q < p->rank);
        if (p->rivals[q] && p->done[q] != GL_NOT_COUNTING && theirs > p->round) p->round = theirs;
    }
    return gl_set_done(p, p->round);
}

static inline int gl_in_turn(const gl_pace *p) {
    for (int q = 0; q < p->ranks; q++)
        if (p->rivals[q] && p->done[q] < p->round + (q < p->rank)) return 0;
    return 1;
}
#endif
