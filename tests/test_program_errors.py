"""What a program outside the language is told: exact place, text and way out.

A case is a program in which a line ``   ^ message`` stands below the line at fault: the caret's
column, and the message, are what the error must say.
"""
# ruff: noqa: E501 (messages stand as they are printed)

from __future__ import annotations

from pathlib import Path

import pytest

from gaslab.compiler.parse import parse
from gaslab.errors import ProgramError
from tests.program_text import load, marked

# ---- names -----------------------------------------------------------------------------------------

NAMES = {
    "a field": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            def init(self, v):
                v.score = v.scor + 1.0
                            ^ Vertex has no field 'scor'; did you mean 'score'?
    """,
    "a field that is far from all": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            def init(self, v):
                v.xyzzy = 1.0
                  ^ Vertex has no field 'xyzzy'; known: degree, id, in_degree, out_degree, score
    """,
    "an edge field": """
        class P(gl.VertexProgram):
            class Edge(gl.Edge):
                weight: float
            def gather(self, v, e, nbr) -> gl.Sum[float]:
                return e.wieght
                         ^ Edge has no field 'wieght'; did you mean 'weight'?
            def apply(self, v, total):
                pass
    """,
    "a parameter": """
        class P(gl.VertexProgram):
            damping: float = 0.85
            class Vertex(gl.Vertex):
                score: float = 0.0
            def init(self, v):
                v.score = self.dampin
                               ^ P has no parameter or aggregator 'dampin'; did you mean 'damping'?
    """,
    "a parameter in done": """
        class P(gl.VertexProgram):
            tolerance: float = 0.1
            def done(self):
                return self.tolerence < 1.0
                            ^ P has no parameter or aggregator 'tolerence'; did you mean 'tolerance'?
    """,
    "a name": """
        LIMIT = 3.0
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            def init(self, v):
                v.score = LIMMIT
                          ^ unknown name 'LIMMIT'; did you mean 'LIMIT'?
    """,
    "a function": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            def init(self, v):
                v.score = maxx(1.0, 2.0)
                          ^ unknown function 'maxx'; did you mean 'max'?
    """,
    "a function of math": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            def init(self, v):
                v.score = math.sqroot(2.0)
                               ^ math has no function 'sqroot'; did you mean 'sqrt'?
    """,
    "a constant of math": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            def init(self, v):
                v.score = math.infinity
                               ^ math has no 'infinity'; known: e, inf, nan, pi, tau
    """,
    "a module": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            def init(self, v):
                v.score = maths.inf
                          ^ unknown name 'maths'; did you mean 'math'?
    """,
    "a method": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            def shrink(self, x):
                return x * 0.5
            def init(self, v):
                v.score = self.shrnk(1.0)
                               ^ P has no method 'shrnk'; did you mean 'shrink'?
    """,
    "a phase": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            def aply(self, v):
                ^ nothing calls method 'aply'; did you mean 'apply'?
                v.score = 1.0
    """,
    "a nested class": """
        class P(gl.VertexProgram):
            class Vertices(gl.Vertex):
                  ^ Vertices is based on gl.Vertex but not called Vertex; write class Vertex(gl.Vertex):
                score: float = 0.0
            def init(self, v):
                v.score = 1.0
    """,
    "text behind a name": """
        NAME = "alice"
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            def init(self, v):
                v.score = NAME
                          ^ 'NAME' is of type str; from outside come only float, int and bool
    """,
    "an object's attribute": """
        OPTIONS = {"a": 1}
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            def init(self, v):
                v.score = OPTIONS.a
                          ^ 'OPTIONS' is of type dict; attributes are read of v, nbr, e, self, modules and classes
    """,
    "a default for this run's value": """
        class P(gl.VertexProgram):
            damping: float = 0.85
            class Vertex(gl.Vertex):
                score: float = 0.0
            def init(self, v):
                v.score = P.damping
                            ^ P.damping is the default, not the value of this run; write self.damping
    """,
}

# ---- declarations ----------------------------------------------------------------------------------

DECLARATIONS = {
    "a reserved field": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                degree: int = 0
                ^ Vertex field 'degree' has a reserved name; choose another
            def init(self, v):
                pass
    """,
    "a reserved parameter": """
        class P(gl.VertexProgram):
            superstep: int = 0
            ^ parameter 'superstep' has a reserved name; choose another
            def init(self, v):
                pass
    """,
    "a reserved aggregator": """
        class P(gl.VertexProgram):
            @gl.aggregator
            def num_edges(self, v) -> gl.Sum[float]:
                ^ aggregator 'num_edges' has a reserved name; choose another name
                return 1.0
    """,
    "a list as a field": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                path: list[int]
                      ^ Vertex field 'path' is of type list[int], which is not in the language; write float, int, bool, gl.VertexId or a width such as gl.float32
            def init(self, v):
                pass
    """,
    "text as a field": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                name: str
                      ^ Vertex field 'name' is of type str, which is not in the language; write gl.VertexId for the id of a vertex
            def init(self, v):
                pass
    """,
    "numpy's widths": """
        import numpy as np
        class P(gl.VertexProgram):
            class Edge(gl.Edge):
                weight: np.float32
                        ^ Edge field 'weight' is of type float32, which is not in the language; write gl.float32
            def init(self, v):
                pass
    """,
    "a width that is not there": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: 'gl.flaot32' = 0.0
                       ^ Vertex field 'score' is of the unknown type gl.flaot32; write float, int, bool, gl.VertexId or a width such as gl.float32; did you mean 'float32'?
            def init(self, v):
                pass
    """,
    "a field without a type": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score = 0.5
                ^ Vertex field 'score' has no type; write score: float = 0.5
            def init(self, v):
                pass
    """,
    "a float default of an int": """
        class P(gl.VertexProgram):
            rounds: int = 1.5
                          ^ parameter 'rounds' is int but its default 1.5 is float; write an int such as 1
            def init(self, v):
                pass
    """,
    "a default that is no number": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = None
                               ^ the default of Vertex field 'score' is no number; write a float such as 1.0
            def init(self, v):
                pass
    """,
    "a default too large for its width": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                level: gl.uint8 = 256
                                  ^ Vertex field 'level' holds 0 to 255, not 256; choose a wider type
            def init(self, v):
                pass
    """,
    "an id with a default": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                label: gl.VertexId = 0
                                     ^ Vertex field 'label' is a vertex id without a default; assign it in init
            def init(self, v):
                pass
    """,
    "a Vertex that is none": """
        class P(gl.VertexProgram):
            class Vertex:
                  ^ Vertex is not based on gl.Vertex; write class Vertex(gl.Vertex):
                score: float = 0.0
            def init(self, v):
                pass
    """,
    "a direction": """
        class P(gl.VertexProgram):
            scatter_edges = "out"
                            ^ scatter_edges is 'out'; write gl.IN, gl.OUT, gl.ALL or gl.NONE
            def scatter(self, v, e, nbr):
                nbr.signal()
    """,
    "a direction per vertex": """
        class P(gl.VertexProgram):
            def gather_edges(self, v):
                ^ gather_edges is a method, but one direction holds for all vertices; write gather_edges = gl.IN
                return gl.IN
            def gather(self, v, e, nbr) -> gl.Sum[float]:
                return 1.0
            def apply(self, v, total):
                pass
    """,
    "nothing at all": """
        class P(gl.VertexProgram):
              ^ P has no methods; write gather and apply
            rounds: int = 1
            def helper(self):
                return 1
    """,
}

# ---- combiners and parameters of methods -----------------------------------------------------------

METHODS = {
    "a sum of bools": """
        class P(gl.VertexProgram):
            @gl.aggregator
            def settled(self, v) -> gl.Sum[bool]:
                                    ^ gl.Sum cannot add bools; write gl.Sum[int] to count, gl.Max[bool] for any, gl.Min[bool] for all
                return True
    """,
    "a sum of ids": """
        class P(gl.VertexProgram):
            def gather(self, v, e, nbr) -> gl.Sum[gl.VertexId]:
                                           ^ gl.Sum cannot add vertex ids; write gl.Min[gl.VertexId] or gl.Max[gl.VertexId]
                return nbr.id
            def apply(self, v, total):
                pass
    """,
    "gather without a combiner": """
        class P(gl.VertexProgram):
            def gather(self, v, e, nbr) -> float:
                                           ^ gather's value has no combiner; write gl.Sum[...], gl.Min[...] or gl.Max[...], as in -> gl.Sum[float]
                return 1.0
            def apply(self, v, total):
                pass
    """,
    "gather without an annotation": """
        class P(gl.VertexProgram):
            def gather(self, v, e, nbr):
                ^ gather's value has no combiner; annotate it with gl.Sum[...], gl.Min[...] or gl.Max[...], as in -> gl.Sum[float]
                return 1.0
            def apply(self, v, total):
                pass
    """,
    "a combiner of nothing": """
        class P(gl.VertexProgram):
            def gather(self, v, e, nbr) -> gl.Sum:
                                           ^ gather's value combines no scalar of the language; write gl.Sum[...], gl.Min[...] or gl.Max[...], as in -> gl.Sum[float]
                return 1.0
            def apply(self, v, total):
                pass
    """,
    "a message without a combiner": """
        class P(gl.VertexProgram):
            def apply(self, v, message):
                               ^ apply's message has no combiner; annotate it with gl.Sum[...], gl.Min[...] or gl.Max[...], as in message: gl.Min[float]
                pass
            def scatter(self, v, e, nbr):
                nbr.signal(1.0)
    """,
    "gather without apply": """
        class P(gl.VertexProgram):
            def gather(self, v, e, nbr) -> gl.Sum[float]:
                ^ there is no apply to take what gather gives; write def apply(self, v, total)
                return 1.0
    """,
    "apply without the total": """
        class P(gl.VertexProgram):
            def gather(self, v, e, nbr) -> gl.Sum[float]:
                return 1.0
            def apply(self, v):
                ^ apply does not take what gather gives; write def apply(self, v, total)
                pass
    """,
    "a total without gather": """
        class P(gl.VertexProgram):
            def apply(self, v, total):
                               ^ apply takes 'total' but there is no gather to give it; write def apply(self, v)
                pass
    """,
    "a total of another type": """
        class P(gl.VertexProgram):
            def gather(self, v, e, nbr) -> gl.Sum[float]:
                return 1.0
            def apply(self, v, total: int):
                                      ^ 'total' is int but gather gives float; make them agree
                pass
    """,
    "too few parameters": """
        class P(gl.VertexProgram):
            def gather(self, v, nbr) -> gl.Sum[float]:
                ^ gather has 3 parameters; write def gather(self, v, e, nbr)
                return 1.0
            def apply(self, v, total):
                pass
    """,
    "self forgotten": """
        class P(gl.VertexProgram):
            def init(v):
                ^ init has 1 parameter; write def init(self, v)
                pass
    """,
    "parameters of done": """
        class P(gl.VertexProgram):
            def done(self, v):
                ^ done has 2 parameters; write def done(self)
                return True
    """,
    "a default parameter": """
        class P(gl.VertexProgram):
            def init(self, v, x=1.0):
                ^ init takes plain parameters; write def init(self, v)
                pass
    """,
    "a static phase": """
        class P(gl.VertexProgram):
            @staticmethod
            def init(v):
                ^ init is a static method; write def init(self, v)
                pass
    """,
    "a wrapped phase": """
        import functools
        class P(gl.VertexProgram):
            @functools.lru_cache
            def init(self, v):
                pass
            @functools.wraps(lambda self, v: None)
            def apply(self, v):
                ^ apply is wrapped by a decorator, which is not in the language; remove it
                pass
    """,
    "start beside active": """
        class P(gl.VertexProgram):
            def start(self, v):
                ^ start has no say beside active; keep one of them
                return True
            def active(self, v):
                return True
    """,
    "a message that is never sent": """
        class P(gl.VertexProgram):
            def apply(self, v, message: gl.Min[float]):
                               ^ scatter sends no message; write nbr.signal(...) with a value
                pass
            def scatter(self, v, e, nbr):
                nbr.signal()
    """,
    "a message without scatter": """
        class P(gl.VertexProgram):
            def apply(self, v, message: gl.Min[float]):
                               ^ nothing sends messages; write nbr.signal(...) in scatter
                pass
    """,
    "a message that is not taken": """
        class P(gl.VertexProgram):
            def scatter(self, v, e, nbr):
                nbr.signal(1.0)
                           ^ apply takes no message; write def apply(self, v, message: gl.Min[float])
    """,
}

# ---- who may write what ----------------------------------------------------------------------------

WRITES = {
    "gather writes v": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            def gather(self, v, e, nbr) -> gl.Sum[float]:
                v.score += 1.0
                  ^ gather cannot write a vertex; write it in apply
                return 1.0
            def apply(self, v, total):
                pass
    """,
    "scatter writes v": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            def scatter(self, v, e, nbr):
                v.score = 1.0
                  ^ scatter cannot write a vertex; write it in apply
    """,
    "start writes v": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            def start(self, v):
                v.score = 1.0
                  ^ start cannot write a vertex; write it in init or apply
                return True
    """,
    "scatter writes nbr": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            def scatter(self, v, e, nbr):
                nbr.score = 1.0
                    ^ nbr is the neighbour, which writes itself; signal it and write in apply
    """,
    "gather writes e": """
        class P(gl.VertexProgram):
            class Edge(gl.Edge):
                weight: float = 1.0
            def gather(self, v, e, nbr) -> gl.Sum[float]:
                e.weight = 1.0
                  ^ gather cannot write an edge; write it in scatter
                return 1.0
            def apply(self, v, total):
                pass
    """,
    "both ends write e": """
        class P(gl.VertexProgram):
            scatter_edges = gl.ALL
            class Edge(gl.Edge):
                weight: float = 1.0
            def scatter(self, v, e, nbr):
                e.weight = 1.0
                  ^ with gl.ALL both ends would write this; write scatter_edges = gl.OUT
    """,
    "a parameter is written": """
        class P(gl.VertexProgram):
            damping: float = 0.85
            def init(self, v):
                self.damping = 0.5
                     ^ a program is immutable; use a vertex field, or an aggregator for a total
    """,
    "a degree is written": """
        class P(gl.VertexProgram):
            def init(self, v):
                v.degree = 3
                  ^ v.degree belongs to the graph; write to a field of your own
    """,
    "a helper writes": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            def reset(self, v):
                v.score = 0.0
                  ^ a helper only reads; return the value and assign it where it is called
                return 0.0
            def init(self, v):
                v.score = self.reset(v)
    """,
    "v is assigned": """
        class P(gl.VertexProgram):
            def init(self, v):
                v = 3
                ^ 'v' cannot be assigned; use another name
    """,
    "gather signals": """
        class P(gl.VertexProgram):
            def gather(self, v, e, nbr) -> gl.Sum[float]:
                nbr.signal()
                    ^ gather cannot signal; write nbr.signal() in scatter
                return 1.0
            def apply(self, v, total):
                pass
    """,
    "v is signalled": """
        class P(gl.VertexProgram):
            def scatter(self, v, e, nbr):
                v.signal()
                  ^ only the neighbour is signalled; write nbr.signal()
    """,
    "a signal as a value": """
        class P(gl.VertexProgram):
            def scatter(self, v, e, nbr):
                x = nbr.signal()
                        ^ signal() gives no value; write it on a line of its own
    """,
    "init reads an aggregate": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            @gl.aggregator
            def mass(self, v) -> gl.Sum[float]:
                return v.score
            def init(self, v):
                v.score = self.mass
                               ^ self.mass has no value yet; aggregators are computed after init
    """,
    "init reads an aggregate through a method": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            @gl.aggregator
            def mass(self, v) -> gl.Sum[float]:
                return v.score
            def half(self):
                return self.mass / 2.0
            def init(self, v):
                v.score = self.half()
                          ^ self.mass has no value yet; aggregators are computed after init
    """,
    "an aggregator reads another": """
        class P(gl.VertexProgram):
            @gl.aggregator
            def mass(self, v) -> gl.Sum[float]:
                return 1.0
            @gl.aggregator
            def share(self, v) -> gl.Sum[float]:
                return 1.0 / self.mass
                                  ^ an aggregator cannot read aggregator 'mass'; compute it from v's fields
    """,
}

# ---- types -----------------------------------------------------------------------------------------

TYPES = {
    "a float for an int": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                count: int = 0
            def init(self, v):
                v.count = v.degree / 2
                          ^ v.count is int but this is float; write int(...) or math.floor(...)
    """,
    "an int for a bool": """
        class P(gl.VertexProgram):
            def start(self, v):
                return v.degree
                       ^ start's value is bool but this is int; write ... != 0
    """,
    "a number for an id": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                label: gl.VertexId
            def init(self, v):
                v.label = 0
                          ^ v.label is a vertex id but this is int; ids are only compared, copied and combined
    """,
    "arithmetic on an id": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                label: gl.VertexId
            def init(self, v):
                v.label = v.id + 1
                          ^ `+` on a vertex id; ids are only compared, copied and combined
    """,
    "an id against a number": """
        class P(gl.VertexProgram):
            def start(self, v):
                return v.id == 3
                               ^ a vertex id is compared with int; declare the other side gl.VertexId, as a parameter or a field
    """,
    "an id against text": """
        class P(gl.VertexProgram):
            def start(self, v):
                return v.id == "alice"
                               ^ text is not in the language; use numbers, or a parameter of type gl.VertexId for the id of a vertex
    """,
    "the truth of an id": """
        class P(gl.VertexProgram):
            def start(self, v):
                return bool(v.id)
                            ^ a vertex id is neither true nor false; compare it with another id
    """,
    "the smaller of an id and a number": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                label: gl.VertexId
            def init(self, v):
                v.label = min(v.id, 3)
                                    ^ a vertex id meets int; ids are only compared, copied and combined
    """,
    "a local of two kinds": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            def init(self, v):
                x = 1.0
                v.score = x
                x = v.id
                    ^ 'x' is float elsewhere but a vertex id here; use two names
    """,
    "a local declared int": """
        class P(gl.VertexProgram):
            def init(self, v):
                x: int = 0
                x = 1.5
                    ^ 'x' is int but this is float; write int(...) or math.floor(...)
    """,
    "a local declared otherwise": """
        class P(gl.VertexProgram):
            def init(self, v):
                x: str = 0
                   ^ type str is not in the language; write float, int or bool
    """,
    "a message of another type": """
        class P(gl.VertexProgram):
            def apply(self, v, message: gl.Min[int]):
                pass
            def scatter(self, v, e, nbr):
                nbr.signal(0.5)
                           ^ the message is int but this is float; write int(...) or math.floor(...)
    """,
    "bits of a float": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            def start(self, v):
                return v.score > 1.0 & v.degree
                                 ^ `&` needs ints or bools but meets a float; write `and` for truth
    """,
    "an int power": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                count: int = 0
            def init(self, v):
                v.count = 2 ** v.degree
                          ^ int ** int is an int or a float by the exponent's sign; write float(...) ** ... for a float
    """,
    "division by 0": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            def init(self, v):
                v.score = 1 / 0
                          ^ `/` by the int 0; write 0.0 for inf or nan
    """,
    "an int beyond 64 bits": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            def init(self, v):
                v.score = 9223372036854775808
                          ^ 9223372036854775808 does not fit 64 bits; write it as a float, such as 1e20
    """,
    "a bound of range": """
        class P(gl.VertexProgram):
            def init(self, v):
                for i in range(v.degree / 2):
                               ^ a bound of range is int but this is float; write int(...) or math.floor(...)
                    pass
    """,
    "v as a value": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            def init(self, v):
                v.score = v
                          ^ 'v' is a vertex, not a value; read one of its fields: v.<field>
    """,
}

# ---- values on every path --------------------------------------------------------------------------

PATHS = {
    "a local set on one path": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            def init(self, v):
                if v.degree > 3:
                    x = 1.0
                v.score = x
                          ^ 'x' may have no value here; assign it on every path to this line
    """,
    "a local set in a loop": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                count: int = 0
            def init(self, v):
                for i in range(v.degree):
                    pass
                v.count = i
                          ^ 'i' may have no value here; assign it on every path to this line
    """,
    "a local read before it is set": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            def init(self, v):
                v.score = x
                          ^ 'x' may have no value here; assign it on every path to this line
                x = 1.0
    """,
    "a local behind a break": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            def init(self, v):
                while True:
                    if v.degree == 1:
                        break
                    x = 1.0
                    break
                v.score = x
                          ^ 'x' may have no value here; assign it on every path to this line
    """,
    "a path without a return": """
        class P(gl.VertexProgram):
            def gather(self, v, e, nbr) -> gl.Sum[float]:
                ^ gather may end without a value; return one on every path
                if nbr.degree > 3:
                    return 1.0
            def apply(self, v, total):
                pass
    """,
    "a helper's path without a return": """
        def sign(x):
            ^ sign may end without a value; return one on every path
            if x > 0:
                return 1
            elif x < 0:
                return -1
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                count: int = 0
            def init(self, v):
                v.count = sign(v.degree)
    """,
    "a bare return": """
        class P(gl.VertexProgram):
            def start(self, v):
                if v.degree == 0:
                    return
                    ^ start returns a value elsewhere; write return with a value
                return True
    """,
    "a value from apply": """
        class P(gl.VertexProgram):
            def apply(self, v):
                return 1.0
                       ^ apply returns nothing; write return alone
    """,
}

# ---- what is not in the language -------------------------------------------------------------------

OUTSIDE = {
    "a list": """
        class P(gl.VertexProgram):
            def init(self, v):
                x = [1, 2]
                    ^ a list is not in the language; use scalar fields and locals
    """,
    "a comprehension": """
        class P(gl.VertexProgram):
            def init(self, v):
                x = sum(i for i in range(3))
                    ^ sum is not in the language; add the values with +
    """,
    "print": """
        class P(gl.VertexProgram):
            def init(self, v):
                print(v.id)
                ^ print is not in the language; write what is to be seen to a field, and read it from the result
    """,
    "numpy": """
        import numpy as np
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            def init(self, v):
                v.score = np.sqrt(2.0)
                             ^ np.sqrt is not in the language; write math.sqrt
    """,
    "math that C has not": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                count: int = 0
            def init(self, v):
                v.count = math.gcd(v.degree, 2)
                               ^ math.gcd is not in the language, which has the math functions of C
    """,
    "a class": """
        class P(gl.VertexProgram):
            def init(self, v):
                x = complex(1.0)
                    ^ complex is not in the language; call math functions, abs, min, max, int, float, bool or a def of your own
    """,
    "a wrapped helper": """
        import functools
        @functools.lru_cache
        def half(x):
            return x / 2.0
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            def init(self, v):
                v.score = half(1.0)
                          ^ half is wrapped by a decorator, which is not in the language; call a plain def
    """,
    "a try": """
        class P(gl.VertexProgram):
            def init(self, v):
                try:
                ^ try is not in the language; test the values beforehand
                    pass
                finally:
                    pass
    """,
    "an import": """
        class P(gl.VertexProgram):
            def init(self, v):
                import random
                ^ import inside a method is not in the language; import at the top of the module
    """,
    "a loop over neighbours": """
        class P(gl.VertexProgram):
            def apply(self, v):
                for nbr in v.neighbors:
                           ^ a for loop runs over range(...) alone; the engine visits the edges
                    pass
    """,
    "an else after a loop": """
        class P(gl.VertexProgram):
            def apply(self, v):
                for i in range(3):
                    break
                else:
                    x = 1
                    ^ else after a loop is not in the language; set a local before break
    """,
    "is": """
        class P(gl.VertexProgram):
            def start(self, v):
                return v.degree is 3
                                   ^ `is` is not in the language; write == or !=
    """,
    "in": """
        class P(gl.VertexProgram):
            def start(self, v):
                return v.degree in range(3)
                                   ^ `in` needs its choices written out; write x in (1, 2, 3)
    """,
    "a line without effect": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            def init(self, v):
                v.score == 1.0
                ^ this line has no effect; assign its value, or remove it
    """,
    "unpacking": """
        class P(gl.VertexProgram):
            def init(self, v):
                a, b = v.degree
                       ^ one value cannot be unpacked; write a, b = x, y
    """,
    "unpacking of another length": """
        class P(gl.VertexProgram):
            def init(self, v):
                a, b = 1, 2, 3
                       ^ 2 targets but 3 values; give one to each
    """,
    "recursion": """
        def fact(n):
            return 1 if n < 2 else n * fact(n - 1)
                                       ^ fact calls itself, and recursion is not in the language; write a loop
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                count: int = 0
            def init(self, v):
                v.count = fact(v.degree)
    """,
    "a helper's arguments": """
        def half(x):
            return x / 2.0
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            def init(self, v):
                v.score = half(1.0, 2.0)
                          ^ half cannot be called like this: too many positional arguments
    """,
    "a helper of any number of arguments": """
        def total(*xs):
            return 1.0
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            def init(self, v):
                v.score = total(1.0, 2.0)
                          ^ total takes any number of arguments; give it a fixed number
    """,
    "a phase called": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            def init(self, v):
                v.score = 1.0
            def apply(self, v):
                self.init(v)
                     ^ self.init is called by the engine; move what both need into a method
    """,
    "an aggregator called": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            @gl.aggregator
            def mass(self, v) -> gl.Sum[float]:
                return v.score
            def apply(self, v):
                v.score = self.mass()
                               ^ self.mass is a value, not a method; write self.mass
    """,
    "the count of math's arguments": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            def init(self, v):
                v.score = math.atan2(1.0)
                          ^ math.atan2 takes 2 arguments but is given 1
    """,
    "min of one": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0
            def init(self, v):
                v.score = min(v.score)
                          ^ min needs two values or more; write min(a, b)
    """,
    "letters before the caret that take two bytes": """
        class P(gl.VertexProgram):
            class Vertex(gl.Vertex):
                größe: float = 0.0
            def init(self, v):
                v.größe = v.große
                            ^ Vertex has no field 'große'; did you mean 'größe'?
    """,
}

CASES = {
    f"{group}: {name}": text
    for group, cases in {
        "name": NAMES, "declaration": DECLARATIONS, "method": METHODS, "write": WRITES,
        "type": TYPES, "path": PATHS, "outside": OUTSIDE,
    }.items()
    for name, text in cases.items()
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::SyntaxWarning")  # `is` with a literal
@pytest.mark.parametrize("case", CASES)
def test_the_error_says_where_what_and_the_way_out(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text, expected = marked(CASES[case])
    program = load(tmp_path, text).P
    with pytest.raises(ProgramError) as caught:
        parse(program)
    assert str(caught.value) == expected
