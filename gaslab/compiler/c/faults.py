"""Faults as C text: where a method cannot go on, its range function is left at once.

The usual path pays a test that is never taken, and nothing behind it: no value has to be made up for a method
that runs on, and no loop looks whether one did. (To go on with a harmless value and to look after each vertex
costs the loops of benchmarks/twins up to a third.)
"""

from __future__ import annotations

PARAMETERS = "const gl_view *w, const int32_t *list, int64_t lo, int64_t hi, gl_scalar *out"

# What is in the function that setjmp returns to a second time is kept out of registers: the loops have one of
# their own.
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

# A call, not inlined: gcc 12 loses the alignment of the stack in functions that call nothing.
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
