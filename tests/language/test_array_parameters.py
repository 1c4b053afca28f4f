"""Parameters that are vectors or matrices: what is given, what is kept, and the lengths that they bind."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from gaslab import program as gl
from gaslab.errors import UsageError
from gaslab.parallel.fingerprint import fingerprint


class Layer(gl.VertexProgram):
    inputs: int
    hidden: int
    weights: gl.Matrix = gl.field(shape=("inputs", "hidden"))
    bias: gl.Vector = gl.field(shape="hidden", dtype=gl.float32, init=0.5)
    kinds: gl.Vector = gl.field(shape=2, dtype=gl.uint8, init=1)
    flags: gl.Vector = gl.field(shape=2, dtype=bool, init=False)

    class Vertex(gl.Vertex):
        x: float = 0.0

    def apply(self, v: Vertex) -> None:
        v.x = self.weights[0, 0]


class Drawn(Layer):
    weights: gl.Matrix = gl.field(shape=(2, 2), init=gl.normal(0.1))


class Shapeless(gl.VertexProgram):
    weights: gl.Matrix


W = np.arange(6).reshape(3, 2)


def test_an_array_is_converted_once_and_frozen() -> None:
    given = W.copy()
    layer = Layer(weights=given, bias=[1, 2], kinds=(7, 255.0), flags=[0, 1.0])
    given[:] = 9
    assert (layer.weights == W).all()
    assert [getattr(layer, n).dtype for n in ("weights", "bias", "kinds", "flags")] == [
        np.float64, np.float32, np.uint8, np.bool_,
    ]  # fmt: skip
    assert layer.kinds.tolist() == [7, 255]
    assert layer.flags.tolist() == [False, True]
    with pytest.raises(ValueError, match="read-only"):
        layer.weights[0, 0] = 1.0


def test_memory_is_row_by_row() -> None:
    layer = Layer(weights=W.T[::-1], inputs=2)
    assert layer.weights.flags.c_contiguous
    assert layer.weights.tolist() == [[1, 3, 5], [0, 2, 4]]


def test_arrays_bind_lengths() -> None:
    layer = Layer(weights=W)
    assert (layer.inputs, layer.hidden) == (3, 2)
    assert layer.bias.tolist() == [0.5, 0.5]
    assert Layer(weights=W, inputs=3).inputs == 3

    class Wide(Layer):
        hidden = 7

    assert Wide(weights=W).hidden == 2


def test_a_program_says_shape_and_dtype() -> None:
    assert repr(Layer(weights=W)) == (
        "Layer(inputs=3, hidden=2, weights=<float64 array of 3 x 2>, bias=<float32 array of 2>, "
        "kinds=<uint8 array of 2>, flags=<bool array of 2>)"
    )
    assert list(Layer(weights=W).parameters()) == ["inputs", "hidden", "weights", "bias", "kinds", "flags"]


def test_programs_are_equal_by_content() -> None:
    one, same, other = Layer(weights=W), Layer(weights=W.astype(float)), Layer(weights=W + 1)
    assert one == same
    assert hash(one) == hash(same)
    assert fingerprint(one) == fingerprint(same)
    assert one != other
    assert fingerprint(one) != fingerprint(other)
    assert one != Layer(weights=W[:2])


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_copy_is_as_immutable(again: Any) -> None:
    layer = again(Layer(weights=W))
    assert layer == Layer(weights=W)
    assert not layer.weights.flags.writeable


SAID = "Layer(weights=<float64 array of 3 x 2>)"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "Layer needs weights=...: the parameter has no default"),
        ({"weights": W, "wieghts": W},
         "Layer has no parameter 'wieghts'; did you mean 'weights'?"),
        ({"weights": [1, 2]},
         "Layer(weights=<int64 array of 2>): a matrix is needed, of 2 dimensions; reshape it"),
        ({"weights": 3.0},
         "Layer(weights=<float64 array of no dimensions>): a matrix is needed, of 2 dimensions; reshape it"),
        ({"weights": [[1], [2, 3]]},
         "Layer(weights=[[1], [2, 3]]): a matrix of numbers is needed, with rows of one length"),
        ({"weights": [["a", "b"]]},
         "Layer(weights=<<U1 array of 1 x 2>): an array of numbers is needed; convert it: "
         "weights=np.asarray(..., float)"),
        ({"weights": np.zeros((1, 2), complex)},
         "Layer(weights=<complex128 array of 1 x 2>): an array of numbers is needed; convert it: "
         "weights=np.asarray(..., float)"),
        ({"weights": np.ma.array(W, mask=W > 2)},
         "Layer(weights=...) is a masked array; fill it: weights=array.filled(0)"),
        ({"weights": np.zeros((0, 2))},
         "Layer(weights=<float64 array of 0 x 2>): every length must be 1 or more; pass an array with "
         "elements"),
        ({"weights": W, "kinds": [3, 256]},
         "Layer(kinds=<int64 array of 2>): element [1] is 256, which uint8 does not hold; round it, or "
         "declare another dtype"),
        ({"weights": W, "kinds": [-1, 2]},
         "Layer(kinds=<int64 array of 2>): element [0] is -1, which uint8 does not hold; round it, or "
         "declare another dtype"),
        ({"weights": W, "kinds": [0.0, 1.5]},
         "Layer(kinds=<float64 array of 2>): element [1] is 1.5, which uint8 does not hold; round it, or "
         "declare another dtype"),
        ({"weights": W, "kinds": [np.nan, 1.0]},
         "Layer(kinds=<float64 array of 2>): element [0] is nan, which uint8 does not hold; round it, or "
         "declare another dtype"),
        ({"weights": W, "flags": [0, 2]},
         "Layer(flags=<int64 array of 2>): element [1] is 2, which bool does not hold; round it, or declare "
         "another dtype"),
        ({"weights": W, "bias": [1e300, 0]},
         "Layer(bias=<float64 array of 2>): element [0] is 1e+300, which float32 does not hold; round it, "
         "or declare another dtype"),
        ({"weights": W * 1.0, "inputs": 4},
         f"{SAID}: the shape is (inputs, hidden), but inputs=4 is given; leave inputs out, or pass an array "
         "of that length"),
        ({"weights": W * 1.0, "bias": [1.0]},
         "Layer(bias=<float32 array of 1>): the shape is (hidden), but weights=<float64 array of 3 x 2> has "
         "hidden = 2; make the shapes agree"),
        ({"weights": W, "kinds": [1, 2, 3]},
         "Layer(kinds=<uint8 array of 3>): the shape is declared (2); pass an array of it"),
    ],
)  # fmt: skip
def test_a_wrong_array_is_named(values: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        Layer(**values)
    assert str(caught.value) == message


def test_declarations_that_no_array_fits() -> None:
    with pytest.raises(UsageError) as caught:
        Drawn(inputs=1, hidden=1)
    assert str(caught.value) == (
        "Drawn.weights = gl.normal(0.1): a parameter is the same for all vertices; draw in a field, or "
        "pass an array: weights=..."
    )
    with pytest.raises(UsageError, match=r"Shapeless.weights has no shape; write weights: ... = gl.field"):
        Shapeless(weights=W)

    class OfIds(gl.VertexProgram):
        sources: gl.Vector = gl.field(shape="k", dtype=gl.VertexId)

    with pytest.raises(UsageError, match=r"OfIds.sources holds vertex ids; an array parameter holds numbers"):
        OfIds(sources=[1, 2])

    class Bare(gl.VertexProgram):
        n: int
        bias: gl.Vector = gl.field(shape="n", init=0.5)

    with pytest.raises(UsageError, match=r"Bare needs n=...: the length of bias, for which no array"):
        Bare()
    with pytest.raises(UsageError, match=r"Bare.bias has the length 0; an int from 1 on is needed"):
        Bare(n=0)
    assert Bare(n=2).bias.tolist() == [0.5, 0.5]


def test_large_integers() -> None:
    class Whole(gl.VertexProgram):
        n: gl.Vector = gl.field(shape=1, dtype=gl.uint64)
        i: gl.Vector = gl.field(shape=1, dtype=int, init=0)

    assert Whole(n=[2**63 - 1], i=[-(2**63)]).n.tolist() == [2**63 - 1]
    with pytest.raises(UsageError, match="is 9223372036854775808, which uint64 does not hold"):
        Whole(n=np.array([2**63], np.uint64))
    with pytest.raises(UsageError, match="which int64 does not hold"):
        Whole(n=[1], i=[2.0**63])
