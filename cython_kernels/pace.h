/* Which round or which priority a rank may begin, by what the others say of theirs.
 *
 * The masters that wait in a scheduler are taken out in rounds, which have numbers. Ranks that count send each other the last
 * that they have done; those that do not count, because nothing or only little waits there, are not waited for.
 *
 * Ranks *keep pace* where rounds are big: one that is quicker than others would run its vertices again and again on
 * what the others have not yet brought up to date, all for nothing. So a rank begins a round when the others have
 * done most of its last.
 *
 * Ranks *take turns* where vertices of two ranks could be in each other's way: for a round, first the least of
 * those ranks, then the next, and again from the first. Ranks that are not rivals have their turns at once. (Barbosa
 * and Gafni: Concurrency in heavily loaded neighborhood-constrained systems, 1989: scheduling by edge reversal.)
 *
 * Numbers are skipped by a rank that is behind, or begins to count. No rank waits for ever: of the ranks that count
 * look at the one whose next round has the least number, and if there are several at the least rank. All it waits
 * for have done what it waits for.
 *
 * Where the scheduler goes by *priority* there are no rounds. Ranks send each other their fronts, the least priority
 * that waits on each, and none begins what is above the least front of the others: a rank that ran ahead would mostly
 * do what has to be done again. No rank waits for ever: when all that was sent has come, the rank with the least front
 * may begin.
 */
#ifndef GASLAB_PACE_H
#define GASLAB_PACE_H
#include <stdint.h>
#include "buckets.h"

enum { GL_NOT_COUNTING = INT32_MAX, GL_NOT_SENT = -1 };

typedef struct gl_pace {
    int32_t rank, ranks;
    int32_t round;                      /* the number of the last that was begun; 0: does not count */
    int32_t *done;                      /* [ranks] of the last that each says it has done, or GL_NOT_COUNTING */
    int64_t *front;                     /* [ranks] that each says it has, GL_NEVER if none waits, or GL_NOT_SENT */
    const uint8_t *rivals;              /* [ranks] whether it takes turns with this one */
} gl_pace;

/* Have done up to this round; here and below: return whether the other ranks need to hear. */
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

/* Begin the round after all that the others have done. */
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

/* Stand in line: count, from where rivals are. Not during a turn. */
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
