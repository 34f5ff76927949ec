/* The command `anyhook`, without starting Python: it passes calls that an agent waits for to the warm server, and exits
 * with the status that comes back. For every other call, and if anything unexpected happens, it executes the Python
 * command next to this program. It reads no hook files and decides nothing. The other end is in
 * src/anyhook/extra/warm; place.py and messages.py do the same as the first half of this file.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launcher.h"

#define PYTHON "/anyhook-python"
#define CALL 0x326B6861u
#define START 0xCBF29CE484222325u /* of a checksum */
#define ACCEPT_MS 3000 /* how long a worker may take for each answer, until it has accepted the call */
#define NO_ANSWER 70   /* the status of a call of an agent that Python could not answer (NO_ANSWER in cli/bridge.py) */
#define MAX_STDIN (1 << 26) /* no larger one is kept */
#define STDIN_MS 5000  /* how long stdin may take to end; then the call is made cold, with a watchdog for stdin */

static char folder[4096]; /* the folder of this program and of the Python command */
char **words;
int word_count;
int worker = -1;
volatile sig_atomic_t told;
static int kept;                       /* whether stdin is kept in memory */
static volatile sig_atomic_t accepted; /* whether another process serves the call */
int is_child;                          /* whether that is a child of this one, in its process group */

void end_by(int number) {
    signal(number, SIG_DFL);
    raise(number);
}

/* Whether the call shows its steps, or how to make it. */
int is_for_a_person(void) {
    const char *debug = getenv("ANYHOOK_DEBUG");
    int found = debug && *debug && strcmp(debug, "0");
    for (int i = 1; i < word_count; i++) found |= !strcmp(words[i], "--debug") || !strcmp(words[i], "--help");
    return found;
}

/* Makes the call in Python; `mark` tells it what happened. */
static _Noreturn void cold(const char *mark) {
    static char program[sizeof folder + sizeof PYTHON];
    if (told) end_by(told);
    snprintf(program, sizeof program, "%s" PYTHON, folder);
    run_python(program, mark);
}

/* -- limits: a call that an agent was allowed can set them on the agent, and they reach us and the hooks. They must not
 * end us before we have answered, and what fails because of one must not open a gate. */

static const struct {
    int limit;
    rlim_t enough; /* no agent works with less */
    int is_raised; /* whether we need more ourselves; hooks have it as it was given */
} limits[] = {{RLIMIT_STACK, 1 << 20, 1}, {RLIMIT_NOFILE, 64, 1}, {RLIMIT_FSIZE, 1 << 26, 0}, {RLIMIT_AS, 1 << 30, 0},
              {RLIMIT_DATA, 1 << 28, 0},  {RLIMIT_NPROC, 32, 0},  {RLIMIT_CPU, 30, 0}};
#define LIMITS (sizeof limits / sizeof *limits)
static struct rlimit given[LIMITS];
int has_low_limits;

static void raise_limits(void) {
    signal(SIGXFSZ, SIG_IGN); /* Python does the same, and hooks have the default again */
    for (size_t i = 0; i < LIMITS; i++) {
        struct rlimit *seen = &given[i];
        if (getrlimit(limits[i].limit, seen) < 0 || seen->rlim_cur == RLIM_INFINITY || seen->rlim_cur >= limits[i].enough)
            continue;
        has_low_limits = 1;
        struct rlimit most = {seen->rlim_max, seen->rlim_max}, enough = {limits[i].enough, limits[i].enough};
        if (!limits[i].is_raised) continue;
        if (most.rlim_max > enough.rlim_max || setrlimit(limits[i].limit, &enough) < 0) /* root may */
            setrlimit(limits[i].limit, &most);
    }
}

void restore_limits(void) {
    for (size_t i = 0; has_low_limits && i < LIMITS; i++)
        if (limits[i].is_raised) setrlimit(limits[i].limit, &given[i]);
}

static int find_folder(void) {
    ssize_t size = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (size <= 0 || size >= (ssize_t)sizeof folder - 1) return 0;
    folder[size] = 0;
    char *slash = strrchr(folder, '/');
    if (!slash) return 0;
    *slash = 0;
    return 1;
}

static uint64_t checksum(uint64_t sum, const char *text, size_t size) { /* FNV-1a */
    for (size_t i = 0; i < size; i++) sum = (sum ^ (unsigned char)text[i]) * 0x100000001B3u;
    return sum;
}

/* Whether the C library, or an isolated Python, reads the variable before the command's first line. */
static int is_read_at_start(const char *entry) {
    static const char *starts[] = {"LC_",       "LD_",      "MALLOC_",         "LANG=",
                                   "LANGUAGE=", "LOCPATH=", "GLIBC_TUNABLES=", "GCONV_PATH="};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (!strncmp(entry, starts[i], strlen(starts[i]))) return 1;
    return 0;
}

/* A checksum of what a server must have in common with its callers and cannot take over: namespaces, cgroups, and how
 * Python starts. The variables are in any order. */
static uint32_t surroundings(char **envp) {
    static const char *names[] = {"cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts"};
    char text[4096];
    uint64_t sum = START, variables = 0;
    int here = open("/proc/self/ns", O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; here >= 0 && i < sizeof names / sizeof *names; i++) {
        ssize_t size = readlinkat(here, names[i], text, sizeof text);
        if (size > 0) sum = checksum(sum, text, size);
    }
    close(here);
    int groups = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
    ssize_t size = groups < 0 ? 0 : read(groups, text, sizeof text);
    close(groups);
    if (size > 0) sum = checksum(sum, text, size);
    for (; *envp; envp++)
        if (is_read_at_start(*envp)) variables += checksum(START, *envp, strlen(*envp));
    sum += variables;
    return sum ^ sum >> 32;
}

static int find_socket(struct sockaddr_un *address, char **envp) {
    char home[4096], session[16] = "";
    const char *base = getenv("XDG_RUNTIME_DIR");
    struct stat seen;
    int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal >= 0) {
        close(terminal);
        snprintf(session, sizeof session, ".%d", (int)getsid(0));
    }
    int size = base && *base == '/' ? snprintf(home, sizeof home, "%s/anyhook", base)
                                    : snprintf(home, sizeof home, "/tmp/anyhook-%d", (int)geteuid());
    if (size < 0 || size >= (int)sizeof home) return 0;
    if (lstat(home, &seen) == 0 && (!S_ISDIR(seen.st_mode) || seen.st_uid != geteuid() || seen.st_mode & 077)) return 0;
    address->sun_family = AF_UNIX;
    size = snprintf(address->sun_path, sizeof address->sun_path, "%s/%016llx-%08x%s", home,
                    (unsigned long long)checksum(START, folder, strlen(folder)), surroundings(envp), session);
    return size > 0 && size < (int)sizeof address->sun_path;
}

/* Whether the call reads stdin. If so, stdin is kept, so that it can be read again if a worker is lost. */
static int reads_stdin(void) {
    if (!strcmp(words[0], "bridge")) return 1;
    for (int i = 1; i < word_count; i++) {
        size_t size = strlen(words[i]);
        if (!strcmp(words[i], "-") || (size > 2 && !strcmp(words[i] + size - 2, "=-"))) return 1;
    }
    return 0;
}

static int now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int)(now.tv_sec % 1000000 * 1000 + now.tv_nsec / 1000000);
}

/* Keeps stdin in memory. It is read straight into that: where there is no room, reading fails and nothing is lost. */
static void keep_stdin(void) {
    static char mark[32];
    int copied = memfd_create("stdin", 0), begun = now_ms(), left;
    if (copied < 0 || ftruncate(copied, MAX_STDIN) < 0) cold(NULL);
    char *text = mmap(NULL, MAX_STDIN, PROT_WRITE, MAP_SHARED, copied, 0);
    if (text == MAP_FAILED) cold(NULL);
    ssize_t size = 0, got = -1;
    while ((left = STDIN_MS - (now_ms() - begun)) > 0 && size < MAX_STDIN) {
        struct pollfd ready = {.fd = 0, .events = POLLIN};
        int some = poll(&ready, 1, left);
        if (some < 0 && errno == EINTR) continue;
        got = some > 0 ? read(0, text + size, MAX_STDIN - size) : -1;
        if (got <= 0) break;
        size += got;
    }
    if (ftruncate(copied, size) < 0 || got) { /* it takes too long, or does not fit: Python reads this, and the rest */
        snprintf(mark, sizeof mark, "--rest=%d", copied);
        cold(mark);
    }
    dup2(copied, 0);
    close(copied);
    kept = 1;
}

/* The kernel has put the arguments and the environment into one block of memory, in the form of a request. */
static int send_call(int connection, char **argv, char **envp) {
    uint32_t variables = 0;
    while (envp[variables]) variables++;
    const char *last = variables ? envp[variables - 1] : argv[word_count];
    size_t size = last + strlen(last) + 1 - argv[0];
    uint32_t header[4] = {CALL, word_count + 1, variables, size};
    struct iovec parts[2] = {{header, sizeof header}, {argv[0], size}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    return sendmsg(connection, &message, MSG_NOSIGNAL) == (ssize_t)(sizeof header + size);
}

/* Only to a worker that is ready: streams that nobody receives stay open, and an agent may wait until they are closed. */
static int send_streams(int connection) {
    char control[CMSG_SPACE(4 * sizeof(int))], letter = '.';
    int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (here < 0) return 0;
    int descriptors[4] = {0, 1, 2, here};
    struct iovec part = {&letter, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof descriptors);
    memcpy(CMSG_DATA(rights), descriptors, sizeof descriptors);
    return sendmsg(connection, &message, MSG_NOSIGNAL) == 1;
}

static int get(int connection, void *data, size_t size) {
    return recv(connection, data, size, MSG_WAITALL) == (ssize_t)size;
}

static int answers_in_time(int connection) {
    struct pollfd ready = {.fd = connection, .events = POLLIN};
    int some;
    while ((some = poll(&ready, 1, ACCEPT_MS)) < 0 && errno == EINTR) {
    }
    return some > 0;
}

/* Passes a signal to the worker. If the worker is not known yet, the signal waits until it is, or until the call is
 * made cold. Without a pidfd only this process ends; the worker notices that, and ends too. */
static void tell(int number) {
    told = number;
    if (worker >= 0) syscall(SYS_pidfd_send_signal, worker, number, NULL, 0);
    else if (accepted) end_by(number);
}

static void hear(int number, siginfo_t *info, void *unused) {
    (void)unused;
    if (is_child && info->si_code == SI_KERNEL) told = number; /* from the terminal: the child has it too */
    else tell(number);
}

void listen_for_signals(void) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction now, before;
    memset(&now, 0, sizeof now);
    now.sa_sigaction = hear;
    now.sa_flags = SA_SIGINFO | SA_RESTART;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &now, NULL);
}

void follow(int process) {
    worker = syscall(SYS_pidfd_open, process, 0);
    accepted = 1;
    if (told) tell(told);
}

/* Waits for the worker that has accepted the call. Returns only if nothing has happened yet. */
static void wait_for_worker(int connection) {
    uint32_t number;
    char letter;
    int on_duty = 0;
    if (!get(connection, &number, sizeof number)) return;
    follow(number);
    while (get(connection, &letter, 1)) {
        if (letter == 'X' && get(connection, &number, sizeof number)) {
            if (number == NO_ANSWER && !strcmp(words[0], "bridge")) answer_without_python("its report is above");
            _exit(number);
        }
        if (letter == 'H') on_duty = 1;
    }
    if (told) end_by(told); /* the signal ended the worker, and now ends this process */
    if (on_duty) {
        lseek(0, 0, SEEK_SET);
        cold("--warm-lost");
    }
}

static void serve(char **argv, char **envp) {
    struct sockaddr_un address;
    struct ucred peer;
    socklen_t size = sizeof peer;
    char letter;
    if (!find_socket(&address, envp)) cold(NULL);
    int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection < 0 || connect(connection, (struct sockaddr *)&address, sizeof address) < 0)
        cold("--warm-start");
    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 || peer.uid != geteuid()) cold(NULL);
    if (reads_stdin()) keep_stdin();
    listen_for_signals();
    if (send_call(connection, argv, envp) && answers_in_time(connection) && get(connection, &letter, 1) &&
        letter == 'G' && send_streams(connection)) {
        int in_time = answers_in_time(connection);
        /* From here on, no worker can accept the call; if one has, its answer is there. */
        if (!in_time) shutdown(connection, SHUT_RDWR);
        if (get(connection, &letter, 1) && letter == 'A') {
            wait_for_worker(connection);
            if (!in_time) {
                lseek(0, 0, SEEK_SET);
                cold("--warm-lost");
            }
        }
    }
    close(connection);
    if (kept) lseek(0, 0, SEEK_SET);
    cold(NULL);
}

int main(int argc, char **argv, char **envp) {
    words = argv + 1;
    word_count = argc - 1;
    raise_limits();
    if (!find_folder()) {
        dprintf(2, "anyhook: /proc/self/exe cannot be read (%s). Call anyhook-python instead.\n", strerror(errno));
        return 2;
    }
    const char *warm = getenv("ANYHOOK_WARM");
    /* No server works for a process that may be in a sandbox: some kinds are visible only by this flag. With low limits
     * stdin may not be kept. */
    int plain = !has_low_limits && word_count > 0 && (!strcmp(words[0], "fire") || !strcmp(words[0], "bridge")) &&
                !(warm && !strcmp(warm, "off")) && !is_for_a_person() && getuid() == geteuid() &&
                getgid() == getegid() && !isatty(0) && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1;
    for (int number = 0; plain && number < 3; number++) plain = fcntl(number, F_GETFD) >= 0;
    if (plain) serve(argv, envp);
    cold(NULL);
}
