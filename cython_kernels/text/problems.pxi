# Why a line is bad; the texts are in gaslab.ingest.problems.
PROBLEMS = (
    "fine", "too_few", "too_many", "not_integer", "negative", "too_large", "empty_id", "not_number", "nan",
    "out_of_range", "nul", "carriage_return", "quote", "not_utf8", "outside", "no_weight", "no_number", "extra_line",
    "decimal_comma", "number_in_text", "too_small",
)
cdef enum:
    FINE, TOO_FEW, TOO_MANY, NOT_INTEGER, NEGATIVE, TOO_LARGE, EMPTY_ID, NOT_NUMBER, IS_NAN
    OUT_OF_RANGE, NUL, CARRIAGE_RETURN, QUOTE, NOT_UTF8
    OUTSIDE, NO_WEIGHT, NO_NUMBER, EXTRA_LINE       # of METIS files alone
    DECIMAL_COMMA, NUMBER_IN_TEXT, TOO_SMALL
