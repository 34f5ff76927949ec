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
#define STDIN_MS 5000  /* how long stdin may take to end; then the call is made cold, with a watchdog for stdin */

static char folder[4096]; /* the folder of this program and of the Python command */
char **words;
int word_count;
int worker = -1;
volatile sig_atomic_t told;
static int kept;                       /* whether stdin is kept in memory */
static volatile sig_atomic_t accepted; /* whether another process serves the call */
static int is_child;                   /* whether that is a child of this one, in its process group */

void end_by(int number) {
    signal(number, SIG_DFL);
    raise(number);
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

static char buffer[65536];
static ssize_t passed, held; /* what was read and is not written yet */

static int pass_on(int to) {
    while (passed < held) {
        ssize_t written = write(to, buffer + passed, held - passed);
        if (written < 0 && errno != EINTR) return -1;
        if (written > 0) passed += written;
    }
    return 1;
}

static int copy(int from, int to) { /* 1 if bytes were copied, 0 at the end, -1 on failure */
    ssize_t size = read(from, buffer, sizeof buffer);
    if (size < 0) return errno == EINTR ? 1 : -1;
    passed = 0;
    held = size;
    return size ? pass_on(to) : 0;
}

/* stdin takes too long, or does not fit: make the call cold. A separate process writes what was read, and the rest. */
static _Noreturn void cold_with_rest(int kept) {
    int ends[2];
    lseek(kept, 0, SEEK_SET);
    if (pipe(ends) == 0) {
        pid_t child = fork();
        if (child == 0) {
            if (fork() > 0) _exit(0);
            signal(SIGPIPE, SIG_DFL);
            close(ends[0]);
            close(1);
            close(2);
            static char last[sizeof buffer];
            ssize_t lost = held - passed; /* read, and not kept */
            memcpy(last, buffer + passed, lost);
            while (copy(kept, ends[1]) > 0) {
            }
            memcpy(buffer, last, lost);
            passed = 0;
            held = lost;
            pass_on(ends[1]);
            while (copy(0, ends[1]) > 0) {
            }
            _exit(0);
        }
        if (child > 0) {
            waitpid(child, NULL, 0);
            dup2(ends[0], 0);
            close(ends[0]);
            close(ends[1]);
        }
    }
    cold(NULL);
}

static int now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int)(now.tv_sec % 1000000 * 1000 + now.tv_nsec / 1000000);
}

static void keep_stdin(void) {
    struct rlimit size; /* with a limit on files, writing could end this process before it has answered */
    if (getrlimit(RLIMIT_FSIZE, &size) < 0 || size.rlim_cur != RLIM_INFINITY) cold(NULL);
    int copied = memfd_create("stdin", MFD_CLOEXEC), begun = now_ms();
    if (copied < 0) cold(NULL);
    for (;;) {
        struct pollfd ready = {.fd = 0, .events = POLLIN};
        int left = STDIN_MS - (now_ms() - begun);
        int some = left > 0 ? poll(&ready, 1, left) : 0;
        if (some < 0 && errno == EINTR) continue;
        int got = some > 0 ? copy(0, copied) : -1;
        if (got < 0) cold_with_rest(copied);
        if (got == 0) break;
    }
    lseek(copied, 0, SEEK_SET);
    dup2(copied, 0);
    close(copied);
    kept = 1;
}

/* The arguments and the environment are in one block of memory, as the kernel has put them there. The length of a list
 * that starts at `*end` in it; `*end` is then its end. (size_t)-1 if the list was moved. */
static size_t in_one_piece(char **list, char **end) {
    size_t n = 0;
    for (; list[n]; n++) {
        if (*end && list[n] != *end) return (size_t)-1;
        *end = list[n] + strlen(list[n]) + 1;
    }
    return n;
}

static int send_call(int connection, char **argv, char **envp) {
    char *end = NULL;
    size_t arguments = in_one_piece(argv, &end), variables = in_one_piece(envp, &end);
    if (arguments == (size_t)-1 || variables == (size_t)-1) return 0;
    uint32_t header[4] = {CALL, arguments, variables, end - argv[0]};
    struct iovec parts[2] = {{header, sizeof header}, {argv[0], end - argv[0]}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    size_t size = sizeof header + parts[1].iov_len;
    ssize_t sent = sendmsg(connection, &message, MSG_NOSIGNAL);
    if (sent < (ssize_t)sizeof header) return 0;
    for (size_t done = sent; done < size; done += sent) {
        sent = send(connection, argv[0] + (done - sizeof header), size - done, MSG_NOSIGNAL);
        if (sent <= 0) return 0;
    }
    return 1;
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
    for (size_t done = 0; done < size;) {
        ssize_t got = recv(connection, (char *)data + done, size - done, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return 0;
        done += got;
    }
    return 1;
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
    now.sa_flags = SA_SIGINFO;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &now, NULL);
}

void follow(int process) {
    is_child = 1;
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
    worker = syscall(SYS_pidfd_open, number, 0);
    accepted = 1;
    if (told) tell(told);
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
    const char *wanted = getenv("ANYHOOK_WARM");
    if (!find_socket(&address, envp)) cold(NULL);
    int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection < 0 || connect(connection, (struct sockaddr *)&address, sizeof address) < 0)
        cold(wanted && !strcmp(wanted, "on") ? NULL : "--warm-start");
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
    const char *warm = getenv("ANYHOOK_WARM"), *debug = getenv("ANYHOOK_DEBUG");
    /* No server works for a process that may be in a sandbox: some kinds are visible only by this flag. With low limits
     * stdin may not be kept. */
    int plain = !has_low_limits && word_count > 0 && (!strcmp(words[0], "fire") || !strcmp(words[0], "bridge")) &&
                !(warm && !strcmp(warm, "off")) && !(debug && *debug && strcmp(debug, "0")) && getuid() == geteuid() &&
                getgid() == getegid() && !isatty(0) && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1;
    for (int i = 1; plain && i < word_count; i++) plain = strcmp(words[i], "--debug") && strcmp(words[i], "--help");
    for (int number = 0; plain && number < 3; number++) plain = fcntl(number, F_GETFD) >= 0;
    if (plain) serve(argv, envp);
    cold(NULL);
}
