"""The programs of the zoo, all computing in float32."""

from gaslab import program as gl
from tests.programs.case import CASES

for _case in CASES:
    _name = _case.program.__name__
    globals()[_name] = type(
        _name, (_case.program,), {"precision": gl.float32, "__module__": __name__, "__qualname__": _name}
    )
