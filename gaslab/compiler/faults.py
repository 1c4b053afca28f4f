"""The faults that compiled code reports, in the user's words, by `gl_fault.code` of abi.h."""

FAULTS = {
    1: "integer division or modulo by zero; test the divisor first, or divide floats",
    2: "a value outside the range of the type it is stored in, or a priority below 0; widen the field, or "
    "clip the value",
    3: "a shift by less than 0 or more than 63 bits",
    4: "range() with step 0",
    5: "an index outside the vector, matrix or list",
    6: "a matrix that cannot be solved: it is singular, or not positive definite where it must be",
    7: "the mode of an empty list; test len(x) first",
    8: "weights that gl.categorical cannot draw by: one is below 0 or nan, or they add up to 0 or infinity",
    9: "gl.integers(n) with n below 1; test n first",
    10: "a signal to nobody; test the id against gl.NOBODY first",
    11: "no memory left for the messages to other ranks",
    14: "a distribution whose parameter is negative, infinite or nan, a mean above 2**52, or an alpha that "
    "is all but 0",
    15: "a value that np.bincount cannot count: it is below 0, or not below minlength; count ints from 0 on, "
    "and give minlength= as one more than the largest",
    16: "the argmax of an empty total; test len(total) first",
}
