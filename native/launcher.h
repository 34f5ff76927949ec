/* What the parts of the launcher share. */
#ifndef ANYHOOK_LAUNCHER_H
#define ANYHOOK_LAUNCHER_H

#include <signal.h>
#include <stddef.h>

#define MAX_SIZE (1 << 18) /* the size of a table and of a payload: a larger one does not fit into a datagram */

/* A text in the payload that a table asks for, by its dotted path. */
struct wanted {
    const char *path;
    const char *value; /* without a final NUL; NULL if it is missing or not a text */
    size_t size;
    unsigned seen; /* which parts of the path were found, one bit each */
};

/* What a worker has written for the launcher: texts that end with a NUL and begin with a letter for their kind. */
struct table {
    char *text, *end; /* all of it */
};

static inline char *after(char *at) {
    while (*at++) {
    }
    return at;
}

int has(struct table *table, char kind, const char *text, size_t size);

/* The texts below one path in the payload. `take` returns 0 if a text is a doubt. */
struct texts {
    const char *path; /* NULL if no table asks for them */
    int is_there;     /* whether there is an object */
    int is_line;      /* whether it has a key `command` or `cmd` */
    int is_odd;       /* whether that is anything but a text, or another key has a list or an object */
    enum { OTHER, LINE, SAYING } key; /* the current key: a command line, its description, any other */
    int (*take)(struct texts *texts, const char *text, size_t size); /* NULL if they do not matter */
    struct table *table;
    const char *project;
    int removes; /* whether a word is a program that removes folders */
};

int read_payload(const char *text, size_t size, struct wanted *wanted, int count, struct texts *texts);

/* Whether self-protection certainly allows the tool input at `path` in the payload. */
int is_harmless(struct table *table, const char *payload, size_t size, const char *path, int is_line);

/* Answers and exits if a table says that nothing is hooked. Otherwise it has done nothing, except that stdin may be
 * kept. */
void answer_if_quiet(const char *socket_path, char **argv, char **envp, void (*keep_stdin)(void));

/* -- what one call is, and how it ends (launcher.c) */

extern char **words;   /* the arguments of the call, starting with the verb */
extern int word_count; /* the number of arguments */
extern int worker;   /* a pidfd of the process that serves the call; -1 if it is not known */
extern volatile sig_atomic_t told; /* a signal that arrived in the meantime */

void end_by(int number);
void listen_for_signals(void); /* signals go to the process that serves the call */
void follow(int process);      /* that is this child */
extern int has_low_limits;     /* whether the caller has set any that no agent works with */
void restore_limits(void);     /* those that were raised for this process alone */

/* -- Python (python.c) */

_Noreturn void run_python(const char *script, const char *mark);
_Noreturn void answer_without_python(const char *why);

/* The length of a list that starts at `*end` in memory, where the kernel has put it; `*end` is then its end. (size_t)-1
 * if the list was moved. */
size_t in_one_piece(char **list, char **end);

#endif
