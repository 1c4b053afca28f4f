"""The C functions behind lists and sorted sets, as templates for each type of elements."""

HEAD = """
typedef struct { const void *at; int64_t length; } gl_list;
GL_INLINE gl_list gl_row(gl_rows rows, int64_t v, int64_t size) {
    return (gl_list){(const char *)rows.data + rows.place[2 * v] * size, rows.place[2 * v + 1]};
}
GL_INLINE void *gl_room(gl_rows rows, int64_t v, int64_t size) {
    return (char *)rows.data + rows.place[2 * v] * size;
}
GL_INLINE uint32_t gl_listed_id(int64_t id) { return id < 0 ? UINT32_MAX : (uint32_t)id; }
GL_INLINE int64_t gl_id_of(uint32_t listed) { return listed == UINT32_MAX ? INT64_MAX : (int64_t)listed; }
GL_INLINE gl_list gl_keep(void *room, gl_list x, int64_t size) {
    if (room != x.at && x.length) __builtin_memmove(room, x.at, (uint64_t)(x.length * size));
    return (gl_list){room, x.length};
}
"""

# Four or more integers (also bools and ids): each goes where the count of smaller ones says, by loops that
# vectorise. The processor cannot predict where an insertion ends.
COUNTED = """\
    if (n >= 4) {
        @T given[16];
        __builtin_memcpy(given, x, (uint64_t)n * sizeof(@T));
        for (int64_t i = 0; i < n; i++) {
            const @T y = given[i];
            int64_t before = 0;
            for (int64_t k = 0; k < i; k++) before += given[k] <= y;
            for (int64_t k = i + 1; k < n; k++) before += given[k] < y;
            x[before] = y;
        }
        return;
    }
"""
# Each is for one storage type (@S its name, @T its C type, @E the C type of its values; @AS turns a value
# into an element, @OF an element into a value); a template follows those it uses.
TEMPLATES = {
    "gl_less": "GL_INLINE _Bool gl_less_@S(@T a, @T b) { return @LESS; }\n",
    "gl_sort_few": """\
static void gl_sort_few_@S(@T *x, int64_t n) {   /* at most 16 */
@COUNTED    for (int64_t i = 1; i < n; i++) {
        const @T y = x[i];
        int64_t k = i;
        for (; k > 0 && gl_less_@S(y, x[k - 1]); k--) x[k] = x[k - 1];
        x[k] = y;
    }
}
""",
    # Runs of 16, then merged between x and work; ascending input is detected first.
    "gl_sort": """\
static void gl_sort_@S(@T *x, @T *work, int64_t n) {
    int64_t i = 1;
    while (i < n && !gl_less_@S(x[i], x[i - 1])) i++;
    if (i >= n) return;
    for (int64_t first = 0; first < n; first += 16) {
        gl_sort_few_@S(x + first, first + 16 < n ? 16 : n - first);
    }
    @T *from = x, *to = work;
    for (int64_t width = 16; width < n; width *= 2) {
        for (int64_t first = 0; first < n; first += 2 * width) {
            const int64_t middle = first + width < n ? first + width : n;
            const int64_t end = first + 2 * width < n ? first + 2 * width : n;
            int64_t a = first, b = middle;
            for (i = first; a < middle && b < end; i++) {
                const _Bool second = gl_less_@S(from[b], from[a]);
                to[i] = second ? from[b] : from[a];
                b += second;
                a += !second;
            }
            for (; a < middle; i++) to[i] = from[a++];
            for (; b < end; i++) to[i] = from[b++];
        }
        @T *other = from;
        from = to;
        to = other;
    }
    if (from != x) __builtin_memcpy(x, from, (uint64_t)n * sizeof(@T));
}
""",
    # For types with few values: counting, in two tables in turn, since a count just written is slow to read.
    # Each value is written sixteen times; the next value overwrites the surplus.
    "gl_sort_dense": """\
static void gl_sort_dense_@S(@T *x, void *work, int64_t n, int64_t least, int64_t values) {
    enum { ONES = 16 };
    uint32_t *even = work, *odd = even + values;
    @T *sorted = (@T *)(odd + values);   /* has room for ONES more */
    int64_t i = 0, k = 0;
    __builtin_memset(even, 0, 2 * (uint64_t)values * sizeof *even);
    for (; i + 2 <= n; i += 2) {
        even[x[i] - least]++;
        odd[x[i + 1] - least]++;
    }
    if (i < n) even[x[i] - least]++;
    for (int64_t y = 0; y < values; y++) {
        const int64_t end = k + even[y] + odd[y];
        for (int j = 0; j < ONES; j++) sorted[k + j] = (@T)(y + least);
        for (k += ONES; __builtin_expect(k < end, 0); k++) sorted[k] = (@T)(y + least);
        k = end;
    }
    __builtin_memcpy(x, sorted, (uint64_t)n * sizeof *x);
}
""",
    # For the same types with values far apart: counting, and a bitmap of the values present finds them again.
    "gl_sort_narrow": """\
static void gl_sort_narrow_@S(@T *x, void *work, int64_t n) {
    int64_t i = 1;
    while (i < n && x[i] >= x[i - 1]) i++;
    if (i >= n) return;
    @T least = x[0], most = x[0];
    for (i = 1; i < n; i++) {
        least = x[i] < least ? x[i] : least;
        most = x[i] > most ? x[i] : most;
    }
    const int64_t values = most - least + 1, words = (values + 63) / 64;
    if (n < 16 || values > 64 * (n - 8)) { gl_sort_@S(x, work, n); return; }
    if (values <= 2 * n) { gl_sort_dense_@S(x, work, n, least, values); return; }
    uint64_t *seen = work;
    uint32_t *count = (uint32_t *)(seen + words);
    __builtin_memset(seen, 0, (uint64_t)words * sizeof *seen);
    __builtin_memset(count, 0, (uint64_t)values * sizeof *count);
    for (i = 0; i < n; i++) {
        const int64_t y = x[i] - least;
        seen[y >> 6] |= UINT64_C(1) << (y & 63);
        count[y]++;
    }
    int64_t k = 0;
    for (int64_t word = 0; word < words; word++)
        for (uint64_t left = seen[word]; left; left &= left - 1) {
            const int64_t y = word * 64 + __builtin_ctzll(left), end = k + count[y];
            if (end - k <= 8 && k + 8 <= n)  /* few: eight at once, of which the next take the last */
                for (int j = 0; j < 8; j++) x[k + j] = (@T)(y + least);
            else
                for (; k < end; k++) x[k] = (@T)(y + least);
            k = end;
        }
}
""",
    "gl_unique": """\
GL_INLINE int64_t gl_unique_@S(@T *x, int64_t n) {
    int64_t kept = n > 0;
    for (int64_t i = 1; i < n; i++) {
        const @T y = x[i];
        x[kept] = y;
        kept += y != x[kept - 1];
    }
    return kept;
}
""",
    "gl_item": """\
GL_INLINE @E gl_item_@S(gl_context *c, int64_t i, gl_list x, int64_t site) {
    if (__builtin_expect((uint64_t)i >= (uint64_t)x.length, 0)) {
        if (i >= 0 || i < -x.length) gl_raise(c, GL_FAULT_INDEX, site);
        i += x.length;
    }
    return @OF(((const @T *)x.at)[i]);
}
""",
    # The row of a growing list has room for a power of two of values, at least four. A longer list continues
    # in the thread's own room, after a head: vertex, length, bytes to the next.
    "gl_capacity": """\
GL_INLINE int64_t gl_capacity_@S(int64_t n) {
    return n <= 4 ? (n > 0) * 4 : INT64_C(1) << (64 - __builtin_clzll((uint64_t)n - 1));
}
""",
    "gl_move": """\
static void *gl_move_@S(gl_context *c, int64_t k, gl_list x, int64_t room, int64_t site) {
    enum { HEAD = 3 * sizeof(int64_t) };
    gl_outbox *box = c->scratch->grown + k;
    const int64_t bytes = HEAD + (room * (int64_t)sizeof(@T) + 7) / 8 * 8;
    const uintptr_t from = (uintptr_t)x.at, first = (uintptr_t)box->records;
    const _Bool inside = from >= first && from < first + (uintptr_t)box->count;
    while (box->count + bytes > box->room)
        if (box->grow(box)) gl_raise(c, GL_FAULT_MEMORY, site);
    char *at = box->records + box->count;
    const int64_t head[] = {-1, 0, bytes};
    __builtin_memcpy(at, head, HEAD);
    if (x.length)
        __builtin_memcpy(at + HEAD, inside ? box->records + (from - first) : x.at,
                         (uint64_t)x.length * sizeof(@T));
    box->count += bytes;
    return at + HEAD;
}
""",
    "gl_append": """\
GL_INLINE gl_list gl_append_@S(gl_context *c, int64_t k, gl_list x, @T y, int64_t site) {
    const int64_t n = x.length;
    @T *at = (@T *)x.at;
    if (n == 0 || (n >= 4 && !(n & (n - 1)))) at = gl_move_@S(c, k, x, n ? 2 * n : 4, site);
    at[n] = y;
    return (gl_list){at, n + 1};
}
""",
    "gl_take": """\
GL_INLINE gl_list gl_take_@S(gl_context *c, int64_t k, gl_rows rows, void *room, gl_list x, int64_t site) {
    if (x.length <= gl_capacity_@S(rows.place[2 * c->vertex + 1])) return gl_keep(room, x, sizeof(@T));
    return (gl_list){gl_move_@S(c, k, x, gl_capacity_@S(x.length), site), x.length};
}
""",
    "gl_put": """\
GL_INLINE void gl_put_@S(gl_rows rows, int64_t v, gl_list x) {
    if (!x.length || x.at == gl_room(rows, v, sizeof(@T))) {
        rows.place[2 * v + 1] = x.length;
    } else {
        int64_t *head = (int64_t *)x.at - 3;
        head[0] = v;
        head[1] = x.length;
    }
}
""",
    "gl_position": """\
GL_INLINE int64_t gl_position_@S(gl_context *c, int64_t i, gl_list x, int64_t site) {
    if (__builtin_expect((uint64_t)i >= (uint64_t)x.length, 0)) {
        if (i >= 0 || i < -x.length) gl_raise(c, GL_FAULT_INDEX, site);
        i += x.length;
    }
    return i;
}
""",
    "gl_among": """\
GL_INLINE _Bool gl_among_@S(@E y, gl_list x) {
    const @T *at = x.at, z = @AS(y);
    if (@OF(z) != y) return 0;
    for (int64_t i = 0; i < x.length; i++)
        if (at[i] == z) return 1;
    return 0;
}
""",
    "gl_find": """\
GL_INLINE int64_t gl_find_@S(@E y, const @T *at, int64_t n) {   /* values smaller than y */
    const @T *from = at;
    while (n > 1) {
        const int64_t half = n >> 1;
        from += from[half - 1] < y ? half : 0;
        n -= half;
    }
    return from - at + (n == 1 && *from < y);
}
""",
    "gl_has": """\
GL_INLINE _Bool gl_has_@S(@E y, gl_list x) {
    const int64_t i = gl_find_@S(@AS(y), x.at, x.length);
    return i < x.length && @OF(((const @T *)x.at)[i]) == y;
}
""",
    "gl_common": """\
static int64_t gl_common_@S(gl_list x, gl_list y) {
    if (x.length > y.length) { const gl_list z = x; x = y; y = z; }
    const @T *a = x.at, *b = y.at, *a_end = a + x.length, *b_end = b + y.length;
    int64_t n = 0;
    if (x.length * 32 < y.length) {      /* few against many: look each of them up in what is left */
        for (; a < a_end && b < b_end; a++) {
            b += gl_find_@S(*a, b, b_end - b);
            n += b < b_end && *b == *a;
        }
        return n;
    }
    while (a < a_end && b < b_end) {
        const @T p = *a, q = *b;
        n += p == q;
        a += p <= q;
        b += q <= p;
    }
    return n;
}
""",
    # Counts in a hash table in the thread's work space: keys, then their counts.
    "gl_mode": """\
static @E gl_mode_@S(gl_context *c, gl_list x, int64_t site) {
    const @T *at = x.at;
    if (__builtin_expect(x.length < 3, 0)) {
        if (!x.length) gl_raise(c, GL_FAULT_EMPTY, site);
        return @OF(x.length == 1 || at[0] < at[1] ? at[0] : at[1]);
    }
    const int bits = 64 - __builtin_clzll((uint64_t)x.length * 2 - 1);
    const int64_t size = INT64_C(1) << bits;
    int32_t *count = (int32_t *)c->scratch->work;
    @T *key = (@T *)(count + size);
    __builtin_memset(count, 0, (uint64_t)size * sizeof(int32_t));
    @T best = at[0];
    int32_t most = 0;
    for (int64_t i = 0; i < x.length; i++) {
        const @T y = at[i];
        uint64_t k = (uint64_t)y * UINT64_C(0x9E3779B97F4A7C15) >> (64 - bits);
        while (count[k] && key[k] != y) k = (k + 1) & (uint64_t)(size - 1);
        key[k] = y;
        const int32_t n = ++count[k];
        if (n > most || (n == most && y < best)) { most = n; best = y; }
    }
    return @OF(best);
}
""",
    "gl_mex": """\
static int64_t gl_mex_@S(gl_context *c, gl_list x) {
    const @T *at = x.at;
    uint64_t *seen = (uint64_t *)c->scratch->work;
    const int64_t words = x.length / 64 + 1;
    __builtin_memset(seen, 0, (uint64_t)words * 8);
    for (int64_t i = 0; i < x.length; i++) {
        const int64_t y = (int64_t)at[i];
        if (y >= 0 && y < x.length) seen[y >> 6] |= UINT64_C(1) << (y & 63);
    }
    int64_t k = 0;
    while (!~seen[k]) k++;
    return k * 64 + __builtin_ctzll(~seen[k]);
}
""",
}

# Marks of a set of ids. gl.NOBODY has none: it is the last, if it is there.
MARKS = """\
GL_INLINE const uint32_t *gl_marked_end(gl_list x) {
    const uint32_t *end = (const uint32_t *)x.at + x.length;
    return x.length && end[-1] == UINT32_MAX ? end - 1 : end;
}
GL_INLINE void gl_mark(gl_context *c, gl_list x) {
    uint64_t *marks = c->scratch->marks;
    c->marked = marks != 0;
    if (c->marked)
        for (const uint32_t *y = x.at, *end = gl_marked_end(x); y < end; y++)
            marks[*y >> 6] |= UINT64_C(1) << (*y & 63);
}
GL_INLINE void gl_unmark(gl_context *c, gl_list x) {
    if (c->marked)
        for (const uint32_t *y = x.at, *end = gl_marked_end(x); y < end; y++) c->scratch->marks[*y >> 6] = 0;
    c->marked = 0;
}
static int64_t gl_common_marked(gl_context *c, gl_list mine, gl_list other) {
    if (!c->marked || mine.length * 32 < other.length) return gl_common_id32(mine, other);
    const uint32_t *y = other.at, *end = gl_marked_end(other);
    const uint64_t *marks = c->scratch->marks;
    int64_t n = end != y + other.length && gl_marked_end(mine) != (const uint32_t *)mine.at + mine.length;
    for (; y < end; y++) n += marks[*y >> 6] >> (*y & 63) & 1;
    return n;
}
"""
