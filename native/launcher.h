/* What the parts of the launcher share. */
#ifndef ANYHOOK_LAUNCHER_H
#define ANYHOOK_LAUNCHER_H

#include <signal.h>

/* -- what one call is, and how it ends (launcher.c) */

extern char **words;   /* the arguments of the call, starting with the verb */
extern int word_count; /* the number of arguments */
extern int worker;   /* a pidfd of the process that serves the call; -1 if it is not known */
extern volatile sig_atomic_t told; /* a signal that arrived in the meantime */

void end_by(int number);
int is_for_a_person(void);
void listen_for_signals(void); /* signals go to the process that serves the call */
void follow(int process);      /* that is this one */
extern int is_child;           /* our child, in our process group */
extern int has_low_limits;     /* whether the caller has set any that no agent works with */
void restore_limits(void);     /* those that were raised for this process alone */

/* -- Python (python.c) */

_Noreturn void run_python(const char *script, const char *mark);
_Noreturn void answer_without_python(const char *why);

#endif
