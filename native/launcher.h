/* What the parts of the launcher share. */
#ifndef ANYHOOK_LAUNCHER_H
#define ANYHOOK_LAUNCHER_H

#include <signal.h>
#include <stddef.h>
#include <string.h>

#define MAX_SIZE (1 << 18) /* of what is written down for an agent */

/* What is written down for an agent: texts that end with a NUL and begin with a letter for their kind. */
struct table {
    char *text, *end; /* all of it */
};

static inline char *after(char *at) {
    while (*at++) {
    }
    return at;
}

static inline int has(struct table *table, char kind, const char *text, size_t size) {
    for (char *at = table->text; at < table->end; at = after(at))
        if (*at == kind && !strncmp(at + 1, text, size) && !at[1 + size]) return 1;
    return 0;
}

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

#endif
