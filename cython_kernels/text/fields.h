/* A line cut into its fields: at runs of blanks, or at a delimiter outside double quotes. */
#ifndef GASLAB_FIELDS_H
#define GASLAB_FIELDS_H
#include <stdint.h>
#include <string.h>

typedef struct {
    const uint8_t *at;
    int64_t length;
    int quoted;          /* 1: in quotes, 2: with doubled quotes inside */
} gl_field;

static inline int gl_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

/* The field in quotes that starts at *p; moves *p behind the quote that closes it. NULL in .at: there is none. */
static gl_field gl_quoted(const uint8_t **p, const uint8_t *end)
{
    gl_field field = {*p + 1, 0, 1}, none = {NULL, 0, 0};
    const uint8_t *stop = field.at;
    for (;; stop += 2) {
        stop = (const uint8_t *)memchr(stop, '"', (size_t)(end - stop));
        if (stop == NULL) return none;
        if (stop + 1 == end || stop[1] != '"') break;
        field.quoted = 2;
    }
    field.length = stop - field.at;
    *p = stop + 1;
    return field;
}

/* Cuts [p, end) at runs of blanks, with *quotes* not at those in double quotes; returns the number of fields,
 * most + 1 if there are more, -1 for quotes that do not close their field. */
static int gl_split_blanks(const uint8_t *p, const uint8_t *end, int quotes, gl_field *field, int most)
{
    for (int n = 0;; n++) {
        while (p < end && gl_blank(*p)) p++;
        if (p == end) return n;
        if (n == most) return n + 1;
        if (quotes && *p == '"') {
            field[n] = gl_quoted(&p, end);
            if (field[n].at == NULL || (p < end && !gl_blank(*p))) return -1;
            continue;
        }
        const uint8_t *first = p;
        while (p < end && !gl_blank(*p)) p++;
        field[n] = (gl_field){first, p - first, 0};
    }
}

/* Where the delimiter is next in [p, end), *width* times the byte; end if it is not there. */
static inline const uint8_t *gl_next_delimiter(const uint8_t *p, const uint8_t *end, uint8_t delimiter, int width)
{
    for (;; p++) {
        p = (const uint8_t *)memchr(p, delimiter, (size_t)(end - p));
        if (p == NULL || p + width > end) return end;
        if (width == 1 || p[1] == delimiter) return p;
    }
}

/* `gl_quoted`, with *p moved behind the blanks after it as well. NULL in .at: something else follows. */
static gl_field gl_quoted_field(const uint8_t **p, const uint8_t *end, uint8_t delimiter, int width)
{
    gl_field field = gl_quoted(p, end), none = {NULL, 0, 0};
    if (field.at == NULL) return none;
    for (const uint8_t *next = gl_next_delimiter(*p, end, delimiter, width); *p < next; ++*p)
        if (!gl_blank(**p)) return none;
    return field;
}

/* Cuts [p, end) at every delimiter outside quotes, *width* times the byte, blanks around fields left out;
 * returns the number of fields, most + 1 if there are more, -1 for quotes that do not close their field. */
static int gl_split_delimiter(const uint8_t *p, const uint8_t *end, uint8_t delimiter, int width, gl_field *field,
                              int most)
{
    for (int n = 0;; p += width) {
        while (p < end && *p != delimiter && gl_blank(*p)) p++;
        if (n == most) return n + 1;
        if (p < end && *p == '"') {
            field[n] = gl_quoted_field(&p, end, delimiter, width);
            if (field[n].at == NULL) return -1;
        } else {
            const uint8_t *stop = gl_next_delimiter(p, end, delimiter, width);
            int64_t length = stop - p;
            while (length > 0 && gl_blank(p[length - 1])) length--;
            field[n] = (gl_field){p, length, 0};
            p = stop;
        }
        n++;
        if (p == end) return n;
    }
}

static inline int gl_follows(uint8_t c)
{
    return (c & 0xC0) == 0x80;
}

/* Whether the bytes are UTF-8 (RFC 3629: no surrogates, no overlong forms). */
static int gl_is_utf8(const uint8_t *p, int64_t length)
{
    const uint8_t *end = p + length;
    while (p < end) {
        uint8_t c = p[0];
        int64_t more = c < 0x80 ? 0 : c >= 0xC2 && c <= 0xDF ? 1 : c >= 0xE0 && c <= 0xEF ? 2
                     : c >= 0xF0 && c <= 0xF4 ? 3 : -1;
        if (more < 0 || end - p <= more) return 0;
        for (int64_t i = 1; i <= more; i++)
            if (!gl_follows(p[i])) return 0;
        if ((c == 0xE0 && p[1] < 0xA0) || (c == 0xED && p[1] > 0x9F) || (c == 0xF0 && p[1] < 0x90) ||
            (c == 0xF4 && p[1] > 0x8F))
            return 0;
        p += 1 + more;
    }
    return 1;
}
#endif
