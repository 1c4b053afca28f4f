"""Faults as C text: a method that cannot go on leaves its range function at once.

The usual path pays only for a branch never taken: no method runs on with a made-up value, and no loop checks
whether one did. (Running on with a harmless value and checking after each vertex costs the loops of
benchmarks/twins up to a third.)
"""

from __future__ import annotations

PARAMETERS = "const gl_view *w, const int32_t *list, int64_t lo, int64_t hi, gl_scalar *out"

# setjmp returns twice, which keeps its function's variables out of registers: the loops have their own
# function.
RANGES = f"""\
#include <setjmp.h>
typedef struct {{ jmp_buf place; gl_fault *fault; }} gl_exit;
#define GL_RANGE(name) \\
    static void name##_block({PARAMETERS}, gl_exit *at_fault); \\
    __attribute__((visibility("default"))) int32_t name({PARAMETERS}, gl_fault *fault) \\
    {{ \\
        gl_exit at_fault; \\
        at_fault.fault = fault; \\
        if (_setjmp(at_fault.place)) return 1; \\
        name##_block(w, list, lo, hi, out, &at_fault); \\
        return 0; \\
    }} \\
    static __attribute__((noinline)) void name##_block({PARAMETERS}, gl_exit *at_fault)
"""

# A call, not inlined: gcc 12 loses the stack's alignment in functions without calls.
RAISE = """\
static __attribute__((noinline, cold, noreturn)) void gl_leave(
    gl_exit *at_fault, int64_t code, int64_t vertex, int64_t site)
{
    *at_fault->fault = (gl_fault){.code = code, .vertex = vertex, .site = site};
    _longjmp(at_fault->place, 1);
}
GL_INLINE void gl_raise(const gl_context *c, int64_t code, int64_t site)
{
    gl_leave(c->at_fault, code, c->vertex, site);
}
"""
