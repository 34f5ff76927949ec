/* What the parts of the launcher know of each other. */
#ifndef ANYHOOK_LAUNCHER_H
#define ANYHOOK_LAUNCHER_H

#include <stddef.h>

/* A text of the payload that a table asks for, by its dotted path. */
struct wanted {
    const char *path;
    const char *value; /* not ended by a NUL; NULL where there is none, or something else than a text */
    size_t size;
    unsigned seen; /* which parts of the path were met, a bit for each */
};

/* The texts below one place in the payload. `take` says whether it still has no doubt. */
struct texts {
    const char *path; /* NULL where nobody asks */
    int is_line;      /* whether the object there has a key `command` or `cmd` */
    enum { OTHER, LINE, SAYING } key; /* under which of its keys we are: a command line, its description, any other */
    int (*take)(struct texts *texts, const char *text, size_t size);
    struct table *table;
};

int read_payload(const char *text, size_t size, struct wanted *wanted, int count, struct texts *texts);

/* Answers, and does not return, where a table says that nothing is hooked; else nothing has happened, but that stdin may
 * have been kept. */
void answer_if_quiet(const char *socket_path, char **argv, char **envp, void (*keep_stdin)(void));

/* How many there are in a list, where it goes on at `*end`, as the kernel has put it there; then `*end` is its end.
 * (size_t)-1 where somebody has moved it. */
size_t in_one_piece(char **list, char **end);

#endif
