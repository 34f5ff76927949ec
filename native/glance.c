/* Self-protection's first check of a tool's input (`_may_matter` in src/anyhook/guard/guard.py): whether a call
 * certainly does not concern us, a protected file, or a folder above one. The table has the names and paths by which
 * Python recognises such a call. Anything unusual is a doubt: a character beyond ASCII, a very long word, `..`, a link
 * on the way to a path, a folder that cannot be read.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "launcher.h"

#define MAX_TEXT 65536 /* in longer texts Python does not check the words */
#define MAX_WORD 1024

static char plain[MAX_TEXT]; /* a text without continued lines, quotes and backslashes */
static const char blanks[] = " \t\n\r", apart[] = " \t\n\r;&|()<>=,`{}:/";

/* Copies a text to `plain`; 0 if it is too long, or has a character that Python might read differently. */
static int without_quotes(const char *text, size_t size) {
    size_t kept = 0;
    if (size >= sizeof plain) return 0;
    for (size_t i = 0; i < size; i++) {
        unsigned char sign = text[i];
        if (!sign || sign > 0x7E || (sign < 0x20 && !strchr(blanks, sign))) return 0;
        if (sign == '\\' && i + 1 < size && text[i + 1] == '\n')
            i++;
        else if (!strchr("'\"\\", sign))
            plain[kept++] = sign;
    }
    plain[kept] = 0;
    return 1;
}

/* First pass: checks the names, and notes whether any word is a program that removes folders. */
static int take_names(struct texts *texts, const char *text, size_t size) {
    if (!without_quotes(text, size)) return 0;
    for (char *at = texts->table->text; at < texts->table->end; at = after(at))
        if (*at == 'n' ? strcasestr(plain, at + 1) != NULL : *at == 'g' && texts->is_line && strstr(plain, at + 1)) return 0;
    for (char *word = plain; *word; word += strspn(word, apart)) {
        size_t length = strcspn(word, apart);
        texts->removes |= length && has(texts->table, 'm', word, length);
        word += length;
    }
    return 1;
}

/* A word as a path in the project, without `.` and doubled slashes; 0 if it has `..`, or begins with two slashes, which
 * may mean something else. */
static int resolve(const char *project, const char *word, size_t length, char *path) {
    size_t size = 0;
    if (*word == '/') {
        if (length > 1 && word[1] == '/') return 0;
    } else {
        strcpy(path, project);
        size = strlen(path);
    }
    for (size_t i = 0; i < length;) {
        size_t part = 0;
        while (i + part < length && word[i + part] != '/') part++;
        if (part == 2 && word[i] == '.' && word[i + 1] == '.') return 0;
        if (part && !(part == 1 && word[i] == '.')) {
            path[size++] = '/';
            memcpy(path + size, word + i, part);
            size += part;
        }
        i += part + 1;
    }
    path[size] = 0;
    return 1;
}

/* Whether no existing part of a path is a link. */
static int has_no_link(char *path, size_t known) {
    struct stat seen;
    for (size_t end = known; path[end];) {
        end += 1 + strcspn(path + end + 1, "/");
        char next = path[end];
        path[end] = 0;
        int found = lstat(path, &seen);
        path[end] = next;
        if (found < 0) return errno == ENOENT || errno == ENOTDIR;
        if (S_ISLNK(seen.st_mode)) return 0;
    }
    return 1;
}

/* Second pass: checks each word as a path. */
static int take_words(struct texts *texts, const char *text, size_t size) {
    const char *project = texts->project;
    size_t inside = strlen(project);
    char path[PATH_MAX + MAX_WORD + 2];
    if (!without_quotes(text, size)) return 0;
    for (char *word = plain + strspn(plain, blanks); *word; word += strspn(word, blanks)) {
        size_t length = strcspn(word, blanks), whole = length;
        char *start = word;
        if (length >= MAX_WORD) return 0;
        while (length && strchr(";&|<>()", *start)) start++, length--;
        while (length && strchr(";&|<>()", start[length - 1])) length--;
        word += whole;
        if (!length) continue;
        if (!resolve(project, start, length, path)) return 0;
        int is_inside = !strncmp(path, project, inside) && (!path[inside] || path[inside] == '/');
        if (!has_no_link(path, is_inside ? inside : 0)) return 0;
        if (texts->is_line && !texts->removes && !strcmp(path, project)) continue; /* it only changes to that folder */
        size_t above = strlen(path);
        for (char *at = texts->table->text; at < texts->table->end; at = after(at))
            if (*at == 'h' && !strncasecmp(at + 1, path, above) && at[1 + above] == '/') return 0;
    }
    return 1;
}

int is_harmless(struct table *table, const char *payload, size_t size, const char *path, int is_line) {
    struct texts texts = {.path = path, .table = table, .is_line = is_line};
    for (char *at = table->text; at < table->end; at = after(at))
        if (*at == 'R') texts.project = at + 1;
    if (!texts.project || *texts.project != '/' || strlen(texts.project) >= PATH_MAX) return 0;
    if (!texts.project[1]) return 0; /* the root directory is always left to Python */
    texts.take = take_names;
    if (!read_payload(payload, size, NULL, 0, &texts)) return 0;
    texts.take = take_words;
    return read_payload(payload, size, NULL, 0, &texts);
}
