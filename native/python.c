/* Starts Python for a call that no server takes. Python is isolated: what a project's environment says about it
 * (PYTHONPATH, PYTHONHOME, ...) does not count for us, and reaches the hooks unchanged. If an agent waits for the
 * answer, this process stays until it is given, and gives one itself if Python cannot: its interpreter is gone, its
 * package is damaged, a limit of the system is too low. `anyhook install` has written down what to say then, in the
 * agent's own words (src/anyhook/engine/last_words.py).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher.h"

#define MAX_SIZE (1 << 18) /* of what is written down for an agent */
#define REFUSED 2 /* most agents understand this status as a refusal */
#define ANSWERED ((off_t)1 << 30) /* as in platform/launched.py */

static ssize_t read_file(const char *path, char *text, size_t size) {
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return -1;
    ssize_t got = read(file, text, size - 1);
    close(file);
    if (got >= 0) text[got] = 0;
    return got;
}

/* The interpreter that the script names in its first line; installers write a line of shell where that would be too
 * long or has a blank. NULL if it names no Python. */
static char *interpreter_of(const char *script) {
    static char text[2 * PATH_MAX];
    static const char by_shell[] = "/bin/sh\n'''exec' ";
    if (read_file(script, text, sizeof text) < 3 || strncmp(text, "#!", 2)) return NULL;
    char *at = text + 2 + strspn(text + 2, " ");
    if (!strncmp(at, by_shell, sizeof by_shell - 1)) at += sizeof by_shell - 1;
    int is_quoted = *at == '"';
    at += is_quoted;
    char *end = at + strcspn(at, is_quoted ? "\"" : " \t\r\n");
    if (*at != '/' || !*end) return NULL;
    *end = 0;
    return strstr(strrchr(at, '/'), "py") ? at : NULL;
}

/* Executes Python. `marks` tell it what happened, and are followed by the words of the call. */
static void become_python(const char *script, const char *first, const char *second) {
    char **argv = malloc((word_count + 8) * sizeof *argv), *interpreter = interpreter_of(script);
    int n = 0;
    if (!argv) return;
    argv[n++] = interpreter;
    argv[n++] = "-I";
    argv[n++] = (char *)script;
    if (first) argv[n++] = (char *)first;
    if (second) argv[n++] = (char *)second;
    for (int i = 0; i < word_count; i++) argv[n++] = words[i];
    if (has_low_limits && word_count && !strcmp(words[0], "bridge")) {
        argv[n++] = "--on-failure"; /* a hook that fails because of a limit refuses */
        argv[n++] = "deny";
    }
    argv[n] = NULL;
    restore_limits();
    if (interpreter) execv(interpreter, argv);
    else execv(script, argv + 2);
}

/* -- without Python */

/* The value of an option of the call, the first that begins with `start`; NULL if there is none. */
static const char *option(const char *name, const char *start) {
    for (int i = 3; i + 1 < word_count; i++)
        if (!strcmp(words[i], name) && !strncmp(words[i + 1], start, strlen(start))) return words[i + 1] + strlen(start);
    return NULL;
}

/* Whether the user's settings close what a guard that is off guards. In doubt a line counts. */
static int settings_say_deny(const char *path) {
    static char text[1 << 16];
    if (read_file(path, text, sizeof text) <= 0) return 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        line += strspn(line, " \t\"'");
        if ((!strncmp(line, "off", 3) || !strncmp(line, "on_failure", 10)) && strstr(line, "deny")) return 1;
    }
    return 0;
}

/* The terminal of the nearest process above that has one: some agents hide what a hook prints, and detach it. */
static void say_on_terminal(const char *text) {
    static char path[64], line[1024];
    int flags = O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC, file = open("/dev/tty", flags), device, parent;
    signal(SIGTTOU, SIG_IGN);
    for (int pid = getppid(); file < 0 && pid > 1; pid = parent) {
        snprintf(path, sizeof path, "/proc/%d/stat", pid);
        char *end = read_file(path, line, sizeof line) > 0 ? strrchr(line, ')') : NULL;
        if (!end || sscanf(end, ") %*c %d %*d %*d %d", &parent, &device) != 2) return;
        if (!device) continue;
        struct stat seen;
        snprintf(path, sizeof path, "/dev/pts/%d", (int)minor(device));
        if (stat(path, &seen) < 0 || (int)seen.st_rdev != device) return;
        file = open(path, flags);
        break;
    }
    if (file >= 0) dprintf(file, "\r\n%s\r\n", text);
}

static int say(int where, const char *text) {
    return !*text || dprintf(where, "%s\n", text) > 0;
}

static _Noreturn void refuse(const char *why) {
    dprintf(2, "anyhook: its Python program could not run (%s). Install anyhook again.\n", why);
    _exit(REFUSED);
}

/* The agent that waits gets the answer that was written down for this event. Without one, it is refused. */
_Noreturn void answer_without_python(const char *why) {
    static char text[MAX_SIZE], path[PATH_MAX]; /* the stack may be small */
    const char *home = option("--home", ""), *state = option("--place", "XDG_STATE_HOME=");
    struct pollfd rest = {.fd = 0, .events = POLLIN};
    signal(SIGPIPE, SIG_IGN);
    for (int n = 0; n < 1024 && poll(&rest, 1, 100) > 0 && read(0, text, sizeof text) > 0; n++) {
    }
    if (!home || word_count < 3 || strchr(words[1], '/')) refuse(why);
    if (state) snprintf(path, sizeof path, "%s/anyhook/entries/%s", state, words[1]);
    else snprintf(path, sizeof path, "%s/.local/state/anyhook/entries/%s", home, words[1]);
    close(0); /* there may be no other descriptor */
    ssize_t size = read_file(path, text, sizeof text);
    if (size <= 0 || text[size - 1]) refuse(why);
    int closes = has_low_limits, here = 0, tells = 0, status = REFUSED, found = 0;
    const char *out = "", *err = "";
    for (char *at = text; at < text + size; at += strlen(at) + 1) { /* texts that begin with a letter for their kind */
        if (!strcmp(at, "T")) tells = 1;                      /* the person is told on the terminal */
        if (*at == 'K') closes = 1;                          /* the entry is closed */
        if (*at == 'C') closes |= settings_say_deny(at + 1); /* the user's settings */
        if (*at == 'E') here = !strcmp(at + 1, words[2]);    /* an event, and what to say there */
        if (!here || !*at || !strchr(closes ? "OFR" : "ofr", *at)) continue;
        if (*at == 'o' || *at == 'O') out = at + 1;
        if (*at == 'f' || *at == 'F') err = at + 1;
        if (*at == 'r' || *at == 'R') status = atoi(at + 1), found = 1;
    }
    if (!found) refuse(why);
    dprintf(2, "anyhook: its Python program could not run (%s)\n", why);
    if (!say(2, err) || !say(1, out)) status = status ? status : REFUSED;
    if (tells && !status && *err) say_on_terminal(err);
    _exit(status);
}

/* -- with Python */

/* Waits until Python has answered. What it prints until it knows its answer is in a memory file; then it moves the
 * position in that file, which it can under any limit. */
static _Noreturn void wait_for_python(pid_t child, int hidden) {
    static char talk[8192];
    int status;
    if (waitpid(child, &status, 0) < 0) _exit(REFUSED);
    if (told) end_by(told);
    off_t end = lseek(hidden, 0, SEEK_CUR), most = sizeof talk - 32;
    if (end >= ANSWERED) {
        if (WIFSIGNALED(status)) end_by(WTERMSIG(status));
        _exit(WEXITSTATUS(status));
    }
    ssize_t size = pread(hidden, talk, most, end > most ? end - most : 0);
    while (size > 0 && (talk[size - 1] == '\n' || talk[size - 1] == ' ')) size--;
    if (size <= 0 && WIFSIGNALED(status)) size = sprintf(talk, "it was killed by signal %d", WTERMSIG(status));
    if (size <= 0) size = sprintf(talk, "it exited with status %d", WEXITSTATUS(status));
    talk[size] = 0;
    const char *line = strrchr(talk, '\n');
    answer_without_python(line ? line + 1 : talk);
}

_Noreturn void run_python(const char *script, const char *mark) {
    char ready[64];
    if (word_count < 3 || strcmp(words[0], "bridge") || is_for_a_person()) {
        become_python(script, mark, NULL);
        refuse(strerror(errno));
    }
    int stderr_kept = fcntl(2, F_DUPFD, 3), stdout_kept = fcntl(1, F_DUPFD, 3);
    if (stdout_kept < 0 && errno == EBADF) answer_without_python("there is no stdout");
    int hidden = memfd_create("printed", MFD_CLOEXEC);
    if (hidden < 0 && errno != ENOSYS && errno != EPERM) answer_without_python(strerror(errno));
    snprintf(ready, sizeof ready, "--ready=%d,%d", stderr_kept, stdout_kept);
    listen_for_signals();
    pid_t parent = getpid(), child = hidden < 0 ? -1 : fork();
    if (child < 0) { /* no process is left, or a sandbox has no such files: as Python itself */
        become_python(script, mark, NULL);
        answer_without_python(strerror(errno));
    }
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent) _exit(REFUSED);
        dup2(hidden, 2);
        fcntl(2, F_SETFD, 0); /* it is 2 already if there was no stderr */
        if (stdout_kept >= 0) dup2(hidden, 1); /* what others print while Python starts does not belong to the answer */
        become_python(script, ready, mark);
        dprintf(2, "%s: %s", script, strerror(errno));
        _exit(REFUSED);
    }
    if (stderr_kept >= 0) close(stderr_kept);
    if (stdout_kept >= 0) close(stdout_kept);
    is_child = 1;
    follow(child);
    wait_for_python(child, hidden);
}
