# One line of an edge list: a fast path for plain lines (`_quick`), and the slow one, which says what a line means.

cdef struct Dialect:
    int delimiter             # its byte, 0: runs of blanks
    int width                 # 2: the delimiter is its byte twice
    const uint8_t *comment    # [256], 1 where the byte starts a comment line
    int strings               # 1: ids are names, interned; 0: integers
    int num_fields
    int head                  # 1: all data lines above the header are part of it, and no id is negative
    const int32_t *role       # [num_fields]
    int plain                 # 1: source, target, then columns, and no digit starts a comment: the fast path

cdef struct Run:
    int64_t *source
    int64_t *target
    int64_t **column          # bits of int64 or, from `real_from` on, of float64
    uint8_t *real             # [columns], 1 once a value was not an int64
    int64_t *counter
    int64_t *bad              # [KEPT_BAD, 5]: line, offset, length, problem, field
    gl_names *names


cdef inline bint _may_be_number(uint8_t c) noexcept nogil:
    """Whether a number may begin with this character; those beyond digits and points are rare in text."""
    return 48 <= c <= 57 or 43 <= c <= 46 or (c | 32) == 105          # + , - . or the i of inf


cdef const uint8_t *_quick(const uint8_t *p, Dialect *dialect, Run *run) noexcept nogil:
    """Parse a plain line at *p*: return the next line, or NULL for the slow path (nothing is stored)."""
    cdef uint64_t source, target = 0
    cdef int64_t count
    cdef int k
    cdef int kind[FIELDS]
    cdef gl_number number[FIELDS]
    count = gl_read_digits(p, &source)
    if count == 0 or count > 18 or (p[0] == 48 and count > 1):
        return NULL
    p += count
    for k in range(1, dialect.num_fields):
        if dialect.delimiter == 0:
            if not gl_blank(p[0]):
                return NULL
            while gl_blank(p[0]):
                p += 1
        else:
            if p[0] != dialect.delimiter:
                return NULL
            p += 1
            if dialect.width == 2:
                if p[0] != dialect.delimiter:
                    return NULL
                p += 1
        if k == 1:
            count = gl_read_digits(p, &target)
            if count == 0 or count > 18 or (p[0] == 48 and count > 1):
                return NULL
            p += count
        elif dialect.role[k] <= IGNORED:               # or text
            if dialect.role[k] == TEXT and _may_be_number(p[0]):
                return NULL
            if dialect.delimiter == 0 and (p[0] == 10 or p[0] == 13):
                return NULL                            # blanks at the end of the line: there is no such field
            while p[0] > 34 or p[0] == 33:             # up to a blank, a quote or anything unusual
                if p[0] == dialect.delimiter:
                    break
                p += 1
        else:
            kind[k] = gl_read_number(p, &number[k], &FIVES[0, 0])   # also one that is not kept
            if kind[k] != GL_INTEGER and kind[k] != GL_DOUBLE:
                return NULL
            p += number[k].length
    if p[0] == 13:
        p += 1
    if p[0] != 10:
        return NULL
    for k in range(2, dialect.num_fields):
        if dialect.role[k] >= 0:
            _store(run.column[dialect.role[k]], run.counter[EDGES], &run.real[dialect.role[k]], kind[k], &number[k])
    count = run.counter[EDGES]
    run.source[count] = <int64_t> source
    run.target[count] = <int64_t> target
    run.counter[EDGES] = count + 1
    run.counter[SELF_LOOPS] += source == target
    if <int64_t> source > run.counter[LARGEST]:
        run.counter[LARGEST] = <int64_t> source
    if <int64_t> target > run.counter[LARGEST]:
        run.counter[LARGEST] = <int64_t> target
    return p + 1


cdef int _integer_id(gl_field *token, bint signed, int64_t *value, int64_t *leading_zero) noexcept nogil:
    cdef uint64_t digits
    cdef int64_t count, zeros = 0, length = token.length
    cdef const uint8_t *p = token.at
    cdef bint minus
    if length == 0:
        return EMPTY_ID
    minus = p[0] == 45 and length > 1
    p += minus
    length -= minus
    while zeros < length - 1 and p[zeros] == 48:
        zeros += 1
    count = gl_read_digits(p + zeros, &digits)
    if count < length - zeros:
        return NOT_INTEGER
    if minus and not signed:
        return NEGATIVE
    if zeros or (minus and digits == 0):               # not how an integer is written
        leading_zero[0] = 1
    if count > 19 or digits > <uint64_t> INT64_MAX + minus:
        return TOO_SMALL if minus else TOO_LARGE
    value[0] = <int64_t> (0 - digits if minus else digits)
    return FINE


cdef int64_t _name(gl_names *names, gl_field *token) noexcept nogil:
    """Intern a token; doubled quotes are made single in the free part of the arena first."""
    cdef uint8_t *free_part
    cdef int64_t i = 0, n = 0
    if token.quoted != 2:
        return gl_intern(names, token.at, token.length)
    free_part = names.arena + names.start[names.count]
    while i < token.length:
        free_part[n] = token.at[i]
        n += 1
        i += 2 if token.at[i] == 34 else 1
    return gl_intern(names, free_part, n)


cdef int _careful(const uint8_t *p, const uint8_t *end, Dialect *dialect, Run *run, int *field) noexcept nogil:
    """Parse the line [p, end) without its line end: store an edge and return FINE, or what is wrong."""
    cdef gl_field token[FIELDS]
    cdef gl_number number[FIELDS]
    cdef int kind[FIELDS]
    cdef int64_t ends[2]
    cdef int64_t zero = 0
    cdef gl_number unkept
    cdef int k, n, problem, role, sort, most = dialect.num_fields
    cdef int64_t edge = run.counter[EDGES]
    field[0] = 0
    if memchr(p, 0, end - p) != NULL:
        return NUL
    if memchr(p, 13, end - p) != NULL:
        return CARRIAGE_RETURN
    if dialect.delimiter == 0:
        n = gl_split_blanks(p, end, not dialect.head, token, most)
    else:
        n = gl_split_delimiter(p, end, <uint8_t> dialect.delimiter, dialect.width, token, most)
    if n < 0:
        return QUOTE
    field[0] = n
    if n < most:
        return TOO_FEW
    if n > most:
        return TOO_MANY
    for k in range(n):
        role = dialect.role[k]
        field[0] = k
        if role == SOURCE or role == TARGET:
            if dialect.strings:
                if token[k].length == 0:
                    return EMPTY_ID
                if not gl_is_utf8(token[k].at, token[k].length):
                    return NOT_UTF8
            else:
                problem = _integer_id(&token[k], not dialect.head, &ends[-1 - role], &zero)
                if problem != FINE:
                    return problem
        elif role == CHECKED or role >= 0:
            if role == CHECKED:
                problem = _number(&token[k], &sort, &unkept)
            else:
                problem = _number(&token[k], &kind[role], &number[role])
            if problem != FINE:
                return problem
        elif role == TEXT:
            problem = _number(&token[k], &sort, &unkept)
            if problem == FINE or problem == OUT_OF_RANGE or problem == DECIMAL_COMMA:
                return NUMBER_IN_TEXT
    for k in range(n):
        role = dialect.role[k]
        if role >= 0:
            _store(run.column[role], edge, &run.real[role], kind[role], &number[role])
        elif dialect.strings and (role == SOURCE or role == TARGET):
            # Names are interned last: a rejected line must not leave a vertex behind.
            ends[-1 - role] = _name(run.names, &token[k])
    run.counter[LEADING_ZERO] |= zero             # of edges alone: a rejected line decides nothing
    run.source[edge] = ends[0]
    run.target[edge] = ends[1]
    run.counter[EDGES] = edge + 1
    run.counter[SELF_LOOPS] += ends[0] == ends[1]
    if ends[0] > run.counter[LARGEST]:
        run.counter[LARGEST] = ends[0]
    if ends[1] > run.counter[LARGEST]:
        run.counter[LARGEST] = ends[1]
    run.counter[LEAST] = min(run.counter[LEAST], min(ends[0], ends[1]))
    return FINE
