"""Documents from text: the words of each line, or its pairs ``word:count``, of one block of bytes."""

from libc.math cimport floor, isinf
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memchr, memcmp, memcpy

import numpy as np

cdef extern from "Python.h":
    bint Py_UNICODE_ISALNUM(Py_UCS4 character) nogil

include "numbers.pxi"

PADDING = 64                  # bytes behind a block of pairs that may be read but mean nothing
NAME_PADDING = 8              # of an arena of names, as in names.pyx
LARGEST_COUNT = LARGEST

# What is wrong with a field of a line of pairs; the texts are in gaslab.ingest.corpus.pairs.
FAULTS = (
    "good", "no_pair", "no_word", "beyond", "no_count", "broken_count", "small_count", "large_count", "no_length",
    "other_length",
)
cdef enum:
    GOOD, NO_PAIR, NO_WORD, BEYOND, NO_COUNT, BROKEN_COUNT, SMALL_COUNT, LARGE_COUNT, NO_LENGTH, OTHER_LENGTH

cdef enum:
    LARGEST = 2147483647
    LONGEST_NUMBER = 64       # bytes

cdef struct Pairs:
    int64_t *document         # from 0, of the block's
    int64_t *word
    int64_t *count
    int64_t used
    int64_t most              # words are 0 to this


def words(const uint8_t[::1] text):
    """Cut lines of UTF-8 into words: runs of two or more letters, digits and underscores, as of Python's ``\\w``.

    Returns (arena of the words, uint8; their starts in it, int64[words + 1]; the line of each, int64[words]).
    """
    cdef int64_t size = text.shape[0], at = 0, begin = 0, line = 0, used = 0, count = 0, characters = 0, width
    if size == 0 or text[size - 1] != 10:
        raise ValueError("the text does not end with a newline")
    arena_array = np.zeros(size + NAME_PADDING, np.uint8)
    start_array = np.zeros(size // 3 + 2, np.int64)    # a word has two bytes at least, and one behind it
    line_array = np.empty(size // 3 + 1, np.int64)
    cdef uint8_t[::1] arena = arena_array
    cdef int64_t[::1] start = start_array, lines = line_array
    with nogil:
        while at < size:
            width = _word_character(&text[at])
            if width > 0:
                if characters == 0:
                    begin = at
                characters += 1
                at += width
                continue
            if characters >= 2:
                memcpy(&arena[used], &text[begin], at - begin)
                used += at - begin
                lines[count] = line
                count += 1
                start[count] = used
            characters = 0
            line += text[at] == 10
            at -= width
    return arena_array[: used + NAME_PADDING], start_array[: count + 1], line_array[:count]


cdef inline int64_t _word_character(const uint8_t *p) noexcept nogil:
    """Return the bytes of the character at *p* if it may be in a word, else that number below 0."""
    cdef uint8_t c = p[0]
    cdef Py_UCS4 character
    if c < 0x80:
        return 1 if c == 95 or 48 <= c <= 57 or 97 <= (c | 32) <= 122 else -1
    if c < 0xE0:
        character = (c & 0x1F) << 6 | (p[1] & 0x3F)
        return 2 if Py_UNICODE_ISALNUM(character) else -2
    if c < 0xF0:
        character = (c & 0x0F) << 12 | (p[1] & 0x3F) << 6 | (p[2] & 0x3F)
        return 3 if Py_UNICODE_ISALNUM(character) else -3
    character = (c & 0x07) << 18 | (p[1] & 0x3F) << 12 | (p[2] & 0x3F) << 6 | (p[3] & 0x3F)
    return 4 if Py_UNICODE_ISALNUM(character) else -4


def pairs(const uint8_t[::1] text, int64_t begin, int64_t end, bint labels, int64_t most):
    """Parse the whole lines ``text[begin:end]``, each a document: a number or a label, then ``word:count`` pairs.

    With *labels* the lines are SVMlight's: any label, or none; ``qid:`` is left out, and ``#`` begins a comment.
    Else they are lda-c's: the number is how many pairs there are. Words are 0 to *most*, counts whole from 1. The
    first line that is none ends it.

    Returns (the document of each pair, from 0; its word; its count: int64 arrays; lines; documents; None or what
    is wrong: (line from 0, index in FAULTS, offset and length of the field)).
    """
    if begin < 0 or end < begin or end + PADDING > text.shape[0] or (end > begin and text[end - 1] != 10):
        raise ValueError(f"[{begin}, {end}) are not whole lines with padding in {text.shape[0]} bytes")
    cdef int64_t room = int(np.count_nonzero(np.asarray(text[begin:end]) == 58)) + 1
    document_array, word_array, count_array = np.empty((3, room), np.int64)
    cdef int64_t[::1] document = document_array, word = word_array, count = count_array
    cdef Pairs found
    found.document, found.word, found.count, found.used, found.most = &document[0], &word[0], &count[0], 0, most
    cdef int64_t lines = 0, documents = 0
    cdef int fault = GOOD
    cdef const uint8_t *p = &text[begin]
    cdef const uint8_t *stop = p + (end - begin)
    cdef const uint8_t *line_end
    cdef const uint8_t *last
    cdef gl_field field
    field.at, field.length = p, 0
    with nogil:
        while p < stop:
            line_end = <const uint8_t *> memchr(p, 10, stop - p)
            last = line_end - 1 if line_end > p and (line_end - 1)[0] == 13 else line_end
            if labels and memchr(p, 35, last - p) != NULL:
                last = <const uint8_t *> memchr(p, 35, last - p)
            if _next(&p, last, &field):
                fault = _document(&p, last, labels, documents, &field, &found)
                if fault != GOOD:
                    break
                documents += 1
            lines += 1
            p = line_end + 1
    wrong = None if fault == GOOD else (lines, fault, field.at - &text[0], field.length)
    arrays = tuple(array[: found.used] for array in (document_array, word_array, count_array))
    return *arrays, lines, documents, wrong


cdef bint _next(const uint8_t **at, const uint8_t *last, gl_field *field) noexcept nogil:
    """Move behind the next field before *last*; return whether there is one."""
    cdef const uint8_t *p = at[0]
    while p < last and gl_blank(p[0]):
        p += 1
    field.at = p
    while p < last and not gl_blank(p[0]):
        p += 1
    field.length = p - field.at
    at[0] = p
    return field.length > 0


cdef int _document(
    const uint8_t **at, const uint8_t *last, bint labels, int64_t document, gl_field *field, Pairs *found
) noexcept nogil:
    """Store the pairs of a line whose first field is *field*; return GOOD, or what is wrong with *field*."""
    cdef gl_field head = field[0]
    cdef uint64_t wanted = 0
    cdef int64_t before = found.used, digits
    cdef int fault
    cdef bint more
    if labels:
        more = memchr(head.at, 58, head.length) != NULL or _next(at, last, field)
    else:
        digits = gl_read_digits(head.at, &wanted)
        if digits != head.length or digits > 18:
            return NO_LENGTH
        more = _next(at, last, field)
    while more:
        if not (labels and field.length > 4 and memcmp(field.at, b"qid:", 4) == 0):
            fault = _pair(field, found)
            if fault != GOOD:
                return fault
            found.document[found.used] = document
            found.used += 1
        more = _next(at, last, field)
    field[0] = head
    return GOOD if labels or found.used - before == <int64_t> wanted else OTHER_LENGTH


cdef int _pair(gl_field *field, Pairs *found) noexcept nogil:
    """Put the word and the count of ``word:count`` behind those there are; return GOOD, or what is wrong."""
    cdef const uint8_t *colon = <const uint8_t *> memchr(field.at, 58, field.length)
    cdef gl_field token
    cdef gl_number number
    cdef uint64_t word = 0
    cdef int64_t digits
    cdef int kind
    if colon == NULL:
        return NO_PAIR
    digits = gl_read_digits(field.at, &word)
    if digits != colon - field.at or digits == 0 or digits > 18:
        return NO_WORD
    if <int64_t> word > found.most:
        return BEYOND
    token.at, token.length, token.quoted = colon + 1, field.at + field.length - colon - 1, 0
    if token.length > LONGEST_NUMBER or _number(&token, &kind, &number) != FINE:
        return NO_COUNT
    if kind == GL_DOUBLE:
        if number.real != floor(number.real):
            return BROKEN_COUNT
        number.integer = <int64_t> number.real if -LARGEST <= number.real <= LARGEST else LARGEST + <int64_t> 1
        if number.real < -LARGEST:
            number.integer = 0
    if number.integer < 1:
        return SMALL_COUNT
    if number.integer > LARGEST:
        return LARGE_COUNT
    found.word[found.used] = <int64_t> word
    found.count[found.used] = number.integer
    return GOOD
