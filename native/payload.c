/* Reads a payload without changing it: whether it is certainly one JSON object in UTF-8, and the few values that a
 * table asks for. Unusual JSON (a number of a thousand digits, a key with escapes, a duplicate name) is a doubt as
 * well, and left to Python.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "launcher.h"

#define MAX_DEPTH 64
#define MAX_NUMBER 300
#define MAX_PATH_DEPTH 4 /* how deep the values that a table asks for may be */
#define MAX_PATH 256

struct reader {
    const unsigned char *at, *end;
    struct wanted *wanted;
    int count;
    struct texts *texts;
    char path[MAX_PATH]; /* the path to the current value, down to the depth that a table may ask for */
    size_t length;
    int depth;
    int inside; /* the depth at which the texts begin, while reading them; otherwise 0 */
};

static void skip_blanks(struct reader *in) {
    while (in->at < in->end && (*in->at == ' ' || *in->at == '\t' || *in->at == '\n' || *in->at == '\r')) in->at++;
}

/* One character of more than one byte, as Python's strict decoder accepts it. */
static int wide(struct reader *in) {
    const unsigned char *at = in->at;
    int more = *at >= 0xF0 ? 3 : *at >= 0xE0 ? 2 : 1;
    if (*at < 0xC2 || *at > 0xF4 || in->end - at <= more) return 0;
    for (int i = 1; i <= more; i++)
        if ((at[i] & 0xC0) != 0x80) return 0;
    if ((*at == 0xE0 && at[1] < 0xA0) || (*at == 0xED && at[1] > 0x9F)) return 0;
    if ((*at == 0xF0 && at[1] < 0x90) || (*at == 0xF4 && at[1] > 0x8F)) return 0;
    in->at += more + 1;
    return 1;
}

/* The rest of an escape, after the backslash. Half a character (a surrogate) is a doubt. */
static int escaped(struct reader *in) {
    if (in->at >= in->end) return 0;
    if (*in->at != 'u') return strchr("\"\\/bfnrt", *in->at) && *in->at++ ? 1 : 0;
    unsigned code = 0;
    if (in->end - in->at < 5) return 0;
    for (int i = 1; i <= 4; i++) {
        unsigned char c = in->at[i];
        int letter = c | 32, digit = c >= '0' && c <= '9' ? c - '0' : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : 16;
        if (digit > 15) return 0;
        code = code * 16 + digit;
    }
    in->at += 5;
    return code && (code < 0xD800 || code > 0xDFFF);
}

/* A text; `plain` says whether it has no escapes. */
static int read_text(struct reader *in, const char **text, size_t *size, int *plain) {
    if (in->at >= in->end || *in->at != '"') return 0;
    const unsigned char *start = ++in->at;
    *plain = 1;
    while (in->at < in->end && *in->at != '"') {
        if (*in->at < 0x20) return 0;
        if (*in->at == '\\') {
            *plain = 0;
            in->at++;
            if (!escaped(in)) return 0;
        } else if (*in->at < 0x80) {
            in->at++;
        } else if (!wide(in)) {
            return 0;
        }
    }
    if (in->at >= in->end) return 0;
    *text = (const char *)start;
    *size = in->at - start;
    in->at++;
    return 1;
}

static int digits(struct reader *in) {
    const unsigned char *start = in->at;
    while (in->at < in->end && *in->at >= '0' && *in->at <= '9') in->at++;
    return in->at > start;
}

/* A number without an exponent; with one, it may be too large. */
static int read_number(struct reader *in) {
    const unsigned char *start = in->at;
    if (*in->at == '-') in->at++;
    if (in->at < in->end && *in->at == '0')
        in->at++;
    else if (!digits(in))
        return 0;
    if (in->at < in->end && *in->at == '.') {
        in->at++;
        if (!digits(in)) return 0;
    }
    return in->at - start <= MAX_NUMBER;
}

static int read_word(struct reader *in, const char *word) {
    size_t size = strlen(word);
    if ((size_t)(in->end - in->at) < size || memcmp(in->at, word, size)) return 0;
    in->at += size;
    return 1;
}

/* Enters a member of the current object or list. 0 if its name is too long, or if a table asks for it and it occurs
 * twice. */
static int enter(struct reader *in, const char *name, size_t size) {
    if (in->depth > MAX_PATH_DEPTH) return 1;
    if (in->length + size + 2 > sizeof in->path) return 0;
    if (memchr(name, '.', size)) name = "?", size = 1;
    if (in->length) in->path[in->length++] = '.';
    memcpy(in->path + in->length, name, size);
    in->length += size;
    in->path[in->length] = 0;
    for (int i = 0; i < in->count; i++) {
        struct wanted *each = in->wanted + i;
        if (strncmp(each->path, in->path, in->length) || (each->path[in->length] && each->path[in->length] != '.')) continue;
        if (each->seen >> in->depth & 1) return 0;
        each->seen |= 1u << in->depth;
    }
    return 1;
}

static int read_value(struct reader *in);

static int read_members(struct reader *in, char close) {
    size_t before = in->length, size = 1;
    const char *name = "0";
    int plain = 1, number = 0;
    char index[16];
    in->at++;
    if (++in->depth > MAX_DEPTH) return 0;
    skip_blanks(in);
    while (in->at < in->end && *in->at != close) {
        if (close == '}') {
            if (!read_text(in, &name, &size, &plain)) return 0;
            if (!plain && (in->depth <= MAX_PATH_DEPTH || in->inside)) return 0;
            if (in->inside && in->depth == in->inside + 1) {
                int line = (size == 7 && !memcmp(name, "command", 7)) || (size == 3 && !memcmp(name, "cmd", 3));
                in->texts->key = line ? LINE : size == 11 && !memcmp(name, "description", 11) ? SAYING : OTHER;
                in->texts->is_line |= line;
            }
            skip_blanks(in);
            if (in->at >= in->end || *in->at++ != ':') return 0;
            if (in->inside && in->depth == in->inside + 1) {
                skip_blanks(in);
                char sign = in->at < in->end ? *in->at : 0;
                in->texts->is_odd |= in->texts->key == LINE ? sign != '"' : in->texts->key == OTHER && (sign == '[' || sign == '{');
            }
        } else if (in->depth <= MAX_PATH_DEPTH) {
            int left = number++, at = sizeof index;
            do index[--at] = '0' + left % 10;
            while (left /= 10);
            name = index + at;
            size = sizeof index - at;
        }
        if (!enter(in, name, size)) return 0;
        int begins = !in->inside && in->texts->path && in->depth <= MAX_PATH_DEPTH && !strcmp(in->path, in->texts->path);
        if (begins) {
            in->inside = in->depth;
            skip_blanks(in);
            if (in->at >= in->end || (*in->at != '{' && *in->at != 'n')) return 0; /* it is unknown what the call would do */
            in->texts->is_there = *in->at == '{';
        }
        if (!read_value(in)) return 0;
        if (begins) in->inside = 0;
        if (in->depth <= MAX_PATH_DEPTH) in->path[in->length = before] = 0;
        skip_blanks(in);
        if (in->at < in->end && *in->at == ',') {
            in->at++;
            skip_blanks(in);
            if (in->at < in->end && *in->at == close) return 0;
        } else if (in->at >= in->end || *in->at != close) {
            return 0;
        }
    }
    in->depth--;
    return in->at < in->end && *in->at++ == (unsigned char)close;
}

/* A text without its escapes. A character beyond ASCII is a doubt. */
static int take(struct reader *in, const char *text, size_t size, int plain) {
    static char meant[MAX_SIZE];
    size_t kept = 0;
    if (plain) return in->texts->take(in->texts, text, size);
    if (size > sizeof meant) return 0;
    for (size_t i = 0; i < size; i++) {
        static const char signs[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
        if (text[i] != '\\') {
            meant[kept++] = text[i];
        } else if (text[++i] != 'u') {
            meant[kept++] = meanings[strchr(signs, text[i]) - signs];
        } else {
            char digits[5] = {text[i + 1], text[i + 2], text[i + 3], text[i + 4]};
            unsigned long code = strtoul(digits, NULL, 16);
            if (!code || code > 0x7E) return 0;
            meant[kept++] = (char)code;
            i += 4;
        }
    }
    return in->texts->take(in->texts, meant, kept);
}

static int read_value(struct reader *in) {
    skip_blanks(in);
    if (in->at >= in->end) return 0;
    switch (*in->at) {
    case '{':
        return read_members(in, '}');
    case '[':
        return read_members(in, ']');
    case 't':
        return read_word(in, "true");
    case 'f':
        return read_word(in, "false");
    case 'n':
        return read_word(in, "null");
    case '"':
        break;
    default:
        return read_number(in);
    }
    const char *text;
    size_t size;
    int plain;
    if (!read_text(in, &text, &size, &plain)) return 0;
    if (in->inside && in->texts->take && !take(in, text, size, plain)) return 0;
    for (int i = 0; in->depth <= MAX_PATH_DEPTH && i < in->count; i++) {
        if (strcmp(in->wanted[i].path, in->path)) continue;
        if (!plain) return 0;
        in->wanted[i].value = text;
        in->wanted[i].size = size;
    }
    return 1;
}

int read_payload(const char *text, size_t size, struct wanted *wanted, int count, struct texts *texts) {
    struct reader in = {
        .at = (const unsigned char *)text,
        .end = (const unsigned char *)text + size,
        .wanted = wanted,
        .count = count,
        .texts = texts,
    };
    skip_blanks(&in);
    if (in.at >= in.end || *in.at != '{' || !read_value(&in)) return 0;
    skip_blanks(&in);
    return in.at == in.end;
}
