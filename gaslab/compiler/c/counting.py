"""``np.bincount`` of a list as C text: ascending values in runs, of which each is counted by its end."""

from __future__ import annotations

from gaslab.compiler import tree as t
from gaslab.compiler.c.body import Body
from gaslab.compiler.c.expressions import expr


def count(body: Body, s: t.Each) -> str | None:
    """Return the statement that counts the values of a list in a vector of zeros, if *s* does that."""
    match s.body:
        case (
            t.Assign(value=t.Index(t.ListWord(arguments=(*_, values)), size, counted=True)),
            t.Assign(target=t.Element(array=t.Local(name))),
        ):
            word = f"gl_count_{t.element_storage(values.type)}"
            return f"{word}(c, l_{name}, {size}, {expr(body, values)}, {s.site});"
    return None
