"""The typed tree: what the frontend makes of a program class, and all that the backends see.

Expressions have one of four types: ``float`` (float64), ``int`` (int64), ``bool`` and ``id`` (a
global vertex id: ordered and comparable, no arithmetic). Only places in memory (fields, locals) and
calls of helpers may also be an `Array` of them: the frontend turns whole-array expressions into loops over
elements. Fields and parameters also have a storage type, a numpy dtype name or ``"id"``; reading
widens to the expression type, writing narrows and checks the range.
Conversions are explicit `Cast` nodes, so a backend never infers a type.

::

    combiners    one row an operation
    declared     types, fields, parameters, combiners
    expressions  the nodes, and statements
    program      a program and its functions, and what may be asked of them  (uses, edge_ends)
    places       lines of the user's files, as errors show them              (depth)
"""

from __future__ import annotations

from gaslab.compiler.tree.combiners import OPERATIONS as OPERATIONS
from gaslab.compiler.tree.combiners import Operation as Operation
from gaslab.compiler.tree.declared import INTEGER_RANGE as INTEGER_RANGE
from gaslab.compiler.tree.declared import LIST_KINDS as LIST_KINDS
from gaslab.compiler.tree.declared import OWN as OWN
from gaslab.compiler.tree.declared import PAIR as PAIR
from gaslab.compiler.tree.declared import PAYLOAD as PAYLOAD
from gaslab.compiler.tree.declared import RECORD as RECORD
from gaslab.compiler.tree.declared import REQUIRED as REQUIRED
from gaslab.compiler.tree.declared import STORAGE as STORAGE
from gaslab.compiler.tree.declared import WIDE as WIDE
from gaslab.compiler.tree.declared import Array as Array
from gaslab.compiler.tree.declared import Combiner as Combiner
from gaslab.compiler.tree.declared import Part as Part
from gaslab.compiler.tree.declared import RecordCombiner as RecordCombiner
from gaslab.compiler.tree.declared import Required as Required
from gaslab.compiler.tree.declared import Site as Site
from gaslab.compiler.tree.declared import Type as Type
from gaslab.compiler.tree.declared import Variable as Variable
from gaslab.compiler.tree.declared import element_of as element_of
from gaslab.compiler.tree.declared import element_storage as element_storage
from gaslab.compiler.tree.declared import is_list as is_list
from gaslab.compiler.tree.declared import named as named
from gaslab.compiler.tree.expressions import ARITHMETIC as ARITHMETIC
from gaslab.compiler.tree.expressions import MATH_ARITY as MATH_ARITY
from gaslab.compiler.tree.expressions import WAYS as WAYS
from gaslab.compiler.tree.expressions import WIDE_SUM as WIDE_SUM
from gaslab.compiler.tree.expressions import Aggregate as Aggregate
from gaslab.compiler.tree.expressions import Binary as Binary
from gaslab.compiler.tree.expressions import Bound as Bound
from gaslab.compiler.tree.expressions import Call as Call
from gaslab.compiler.tree.expressions import CallHelper as CallHelper
from gaslab.compiler.tree.expressions import Cast as Cast
from gaslab.compiler.tree.expressions import Compare as Compare
from gaslab.compiler.tree.expressions import Conditional as Conditional
from gaslab.compiler.tree.expressions import Const as Const
from gaslab.compiler.tree.expressions import Draw as Draw
from gaslab.compiler.tree.expressions import EdgeField as EdgeField
from gaslab.compiler.tree.expressions import Element as Element
from gaslab.compiler.tree.expressions import Expr as Expr
from gaslab.compiler.tree.expressions import Forward as Forward
from gaslab.compiler.tree.expressions import Global as Global
from gaslab.compiler.tree.expressions import Index as Index
from gaslab.compiler.tree.expressions import Let as Let
from gaslab.compiler.tree.expressions import ListWord as ListWord
from gaslab.compiler.tree.expressions import Local as Local
from gaslab.compiler.tree.expressions import Logical as Logical
from gaslab.compiler.tree.expressions import NoList as NoList
from gaslab.compiler.tree.expressions import Param as Param
from gaslab.compiler.tree.expressions import PartOf as PartOf
from gaslab.compiler.tree.expressions import Reduce as Reduce
from gaslab.compiler.tree.expressions import Unary as Unary
from gaslab.compiler.tree.expressions import VertexAttribute as VertexAttribute
from gaslab.compiler.tree.expressions import VertexField as VertexField
from gaslab.compiler.tree.expressions import nodes as nodes
from gaslab.compiler.tree.program import Aggregator as Aggregator
from gaslab.compiler.tree.program import Function as Function
from gaslab.compiler.tree.program import Tree as Tree
from gaslab.compiler.tree.statements import ENDS as ENDS
from gaslab.compiler.tree.statements import AddPair as AddPair
from gaslab.compiler.tree.statements import AddPart as AddPart
from gaslab.compiler.tree.statements import Assign as Assign
from gaslab.compiler.tree.statements import Break as Break
from gaslab.compiler.tree.statements import Continue as Continue
from gaslab.compiler.tree.statements import Contribute as Contribute
from gaslab.compiler.tree.statements import Each as Each
from gaslab.compiler.tree.statements import ForRange as ForRange
from gaslab.compiler.tree.statements import If as If
from gaslab.compiler.tree.statements import Merge as Merge
from gaslab.compiler.tree.statements import Post as Post
from gaslab.compiler.tree.statements import Return as Return
from gaslab.compiler.tree.statements import Signal as Signal
from gaslab.compiler.tree.statements import Solve as Solve
from gaslab.compiler.tree.statements import Stmt as Stmt
from gaslab.compiler.tree.statements import Stop as Stop
from gaslab.compiler.tree.statements import While as While
from gaslab.compiler.tree.statements import statements as statements
