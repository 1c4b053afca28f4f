"""The typed tree: the frontend makes it from a program class, and backends see nothing else.

Expressions have one of four types: ``float`` (of `Tree.precision`), ``int`` (int64), ``bool`` and ``id`` (a
global vertex id: ordered and comparable, no arithmetic). Only places in memory (fields, locals) and
calls of helpers may also be an `Array` of them: the frontend turns whole-array expressions into loops over
elements. Fields and parameters also have a storage type, a numpy dtype name, ``"id"`` or, in lists,
``"id32"``; reading widens to the expression type, writing narrows and checks the range.
Conversions are explicit `Cast` nodes, so a backend never infers a type.

::

    combiner_table  one row per operation that combines values
    declared     types, fields, parameters, combiners
    expressions  the nodes, and statements
    program      a program and its functions, and what may be asked of them  (uses, edge_ends, edge_work,
                 harmless)
    key_order    loops over totals by key that need no order                 (keyed_rounds)
    source_places  lines of the user's files, as errors show them            (depth)
"""

from __future__ import annotations

# All that these modules define belongs to the tree; ruff cannot see the names.
from gaslab.compiler.tree.combiner_table import *  # noqa: F403
from gaslab.compiler.tree.declared import *  # noqa: F403
from gaslab.compiler.tree.expressions import *  # noqa: F403
from gaslab.compiler.tree.program import *  # noqa: F403
from gaslab.compiler.tree.statements import *  # noqa: F403
