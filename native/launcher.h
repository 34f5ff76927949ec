/* What the parts of the launcher know of each other. */
#ifndef ANYHOOK_LAUNCHER_H
#define ANYHOOK_LAUNCHER_H

#include <stddef.h>

#define LARGEST (1 << 18) /* of a table, and of a payload: a larger one does not fit into a datagram */

/* A text of the payload that a table asks for, by its dotted path. */
struct wanted {
    const char *path;
    const char *value; /* not ended by a NUL; NULL where there is none, or something else than a text */
    size_t size;
    unsigned seen; /* which parts of the path were met, a bit for each */
};

/* What a worker has written down for the launcher: texts, each of which ends with a NUL and begins with a letter that
 * says what it is. */
struct table {
    char *text, *end; /* all of it */
};

static inline char *after(char *at) {
    while (*at++) {
    }
    return at;
}

int has(struct table *table, char kind, const char *text, size_t size);

/* The texts below one place in the payload. `take` says whether it still has no doubt. */
struct texts {
    const char *path; /* NULL where nobody asks */
    int is_there;     /* whether there is an object */
    int is_line;      /* whether it has a key `command` or `cmd` */
    int is_odd;       /* whether that is anything but a text, or another key has a list or an object */
    enum { OTHER, LINE, SAYING } key; /* under which of its keys we are: a command line, its description, any other */
    int (*take)(struct texts *texts, const char *text, size_t size); /* NULL where they do not matter */
    struct table *table;
    const char *project;
    int removes; /* whether a word is a program that takes folders away */
};

int read_payload(const char *text, size_t size, struct wanted *wanted, int count, struct texts *texts);

/* Whether self-protection surely has nothing against the input of a tool, at `path` in the payload. */
int is_harmless(struct table *table, const char *payload, size_t size, const char *path, int is_line);

/* Answers, and does not return, where a table says that nothing is hooked; else nothing has happened, but that stdin may
 * have been kept. */
void answer_if_quiet(const char *socket_path, char **argv, char **envp, void (*keep_stdin)(void));

/* How many there are in a list, where it goes on at `*end`, as the kernel has put it there; then `*end` is its end.
 * (size_t)-1 where somebody has moved it. */
size_t in_one_piece(char **list, char **end);

#endif
