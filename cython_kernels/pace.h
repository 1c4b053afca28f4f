/* How far ranks may be ahead of each other.
 *
 * Who waits in a scheduler is taken out in rounds. Where rounds are big, a rank that is quicker than others would
 * run its vertices again and again on what the others have not yet brought up to date, all for nothing. So a
 * rank begins a round when the others have done most of theirs of the same number, or have said not to wait for
 * them: because nothing waits there, or only little, which is best done at once.
 *
 * Nobody waits for ever: of the ranks that keep pace one has the least number. Those with a greater one have done
 * that of the number before theirs, and those with the same are at work on it.
 */
#ifndef GASLAB_PACE_H
#define GASLAB_PACE_H
#include <stdint.h>

enum { GL_ANY_PACE = INT32_MAX };       /* done: do not wait for me */

typedef struct gl_pace {
    int32_t rank, ranks;
    int64_t big;                        /* vertices of a round, from which on ranks keep pace */
    int32_t round;                      /* that was begun last; 0: a small one */
    int32_t *done;                      /* [ranks] the number of the last round that each says it has done */
} gl_pace;

/* Whether the next round may begin. */
static inline int gl_in_pace(const gl_pace *p) {
    for (int q = 0; q < p->ranks; q++)
        if (q != p->rank && p->done[q] < p->round) return 0;
    return 1;
}

static inline int gl_say_done(gl_pace *p, int32_t done) {
    const int news = p->done[p->rank] != done;
    p->done[p->rank] = done;
    return news;
}

/* Begin a round of so many vertices; return whether there is news for the others in done[rank]. */
static inline int gl_begin_round(gl_pace *p, int64_t vertices) {
    int32_t most = p->round;
    if (vertices < p->big) {
        p->round = 0;
        return gl_say_done(p, GL_ANY_PACE);
    }
    for (int q = 0; q < p->ranks; q++)
        if (p->done[q] != GL_ANY_PACE && p->done[q] > most) most = p->done[q];
    p->round = most + 1;
    return p->done[p->rank] == GL_ANY_PACE && gl_say_done(p, most);
}

/* Most of the round is done; return the same. */
static inline int gl_end_round(gl_pace *p) {
    return p->round && gl_say_done(p, p->round);
}
#endif
