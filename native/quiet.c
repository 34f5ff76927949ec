/* Answers an event that reaches no hook, without Python. A worker of the warm server has written a table of such calls
 * and their conditions (src/anyhook/extra/warm/quiet.py); this file checks each condition again. The event goes to the server
 * for the journal, and nothing waits for that. In doubt, the call is made in the ordinary way, so this file answers
 * that no hook objects, or does not answer.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "launcher.h"

#define NOTE 0x316B686Eu
#define MAX_PATHS 32
#define MAX_READ (1 << 22) /* no table is written for larger files */

/* Whether a table has an entry of a kind with exactly this text. */
int has(struct table *table, char kind, const char *text, size_t size) {
    for (char *at = table->text; at < table->end; at = after(at))
        if (*at == kind && !strncmp(at + 1, text, size) && !at[1 + size]) return 1;
    return 0;
}

static void describe(const char *path, char *shown, size_t size) { /* does the same as `stamp` in platform/places.py */
    struct stat seen;
    if (stat(path, &seen) < 0) {
        *shown = 0;
        return;
    }
    snprintf(shown, size, "%lld %lld %lld %llu %u",
             (long long)seen.st_mtim.tv_sec * 1000000000 + seen.st_mtim.tv_nsec,
             (long long)seen.st_ctim.tv_sec * 1000000000 + seen.st_ctim.tv_nsec, (long long)seen.st_size,
             (unsigned long long)seen.st_ino, (unsigned)seen.st_mode);
}

/* Does the same as `content_checksum` in src/anyhook/extra/warm/quiet.py: words of eight bytes, the last one filled with zeros,
 * and the size. A stamp alone does not prove that a file is the same. */
static int checksum(const char *path, char *shown, size_t size) {
    static unsigned char part[1 << 16];
    uint64_t sum = 0xCBF29CE484222325u, total = 0, word;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return 0;
    for (;;) {
        size_t filled = 0;
        ssize_t got;
        while (filled < sizeof part && (got = read(file, part + filled, sizeof part - filled)) > 0) filled += got;
        if (!filled) break;
        total += filled;
        if (total > MAX_READ) break;
        while (filled % 8) part[filled++] = 0;
        for (size_t i = 0; i < filled; i += 8) {
            memcpy(&word, part + i, 8);
            sum = (sum ^ word) * 0x100000001B3u;
        }
    }
    close(file);
    snprintf(shown, size, "%016llx", (unsigned long long)((sum ^ total) * 0x100000001B3u));
    return total <= MAX_READ;
}

static int load(struct table *table, const char *socket_path, char **argv) {
    char path[PATH_MAX + 64], here[PATH_MAX];
    uint64_t sum = 0xCBF29CE484222325u;
    const char *keyed[] = {argv[2], argv[3], getcwd(here, sizeof here)};
    const char *name = strrchr(socket_path, '/');
    if (!keyed[2] || !name) return 0;
    for (int i = 0; i < 3; i++)
        for (const char *at = keyed[i];; at++) {
            sum = (sum ^ (unsigned char)*at) * 0x100000001B3u;
            if (!*at) break;
        }
    snprintf(path, sizeof path, "%.*s/quiet/%s-%016llx", (int)(name - socket_path), socket_path, name + 1,
             (unsigned long long)sum);
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return 0;
    static char text[MAX_SIZE];
    ssize_t size = read(file, text, sizeof text);
    close(file);
    if (size <= 0 || size == (ssize_t)sizeof text || text[size - 1]) return 0;
    table->text = text;
    table->end = text + size;
    return 1;
}

/* The words after the event, in lines. "-" if they are too long: no table has that. */
static const char *options_of(char *text, size_t size) {
    size_t length = 0;
    *text = 0;
    for (int i = 3; i < word_count; i++) {
        int more = snprintf(text + length, size - length, "%s\n", words[i]);
        if (more < 0 || (length += more) >= size) return "-";
    }
    return text;
}

/* What can be checked before stdin is read: the arguments, the variables, the server, and the namespaces. */
static int is_same_call(struct table *table, const char *socket_path, char **argv, char **envp) {
    char shown[PATH_MAX], link[64];
    int answers = 0, special = 0, listed = 0, options = 0;
    struct stat root;
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 0) return 0;
    for (char *at = table->text; at < table->end; at = after(at)) {
        char *value = at + 1, *equals;
        ssize_t size;
        switch (*at) {
        case 'W': /* the agent */
            if (strcmp(value, argv[2])) return 0;
            break;
        case 'E': /* its event */
            if (strcmp(value, argv[3])) return 0;
            break;
        case 'Q': /* the entry's options: the places that it fixes */
            options++;
            if (strcmp(value, options_of(shown, sizeof shown))) return 0;
            break;
        case 'S': /* the server */
            describe(socket_path, shown, sizeof shown);
            if (strcmp(shown, value)) return 0;
            break;
        case 'N': /* a namespace: its name and its value */
            if (!(equals = strchr(value, '='))) return 0;
            snprintf(link, sizeof link, "/proc/self/ns/%.*s", (int)(equals - value), value);
            size = readlink(link, shown, sizeof shown - 1);
            if (size < 0 || (size_t)size != strlen(equals + 1) || memcmp(shown, equals + 1, size)) return 0;
            break;
        case '/': /* the root directory */
            if (stat("/", &root) < 0) return 0;
            snprintf(shown, sizeof shown, "%llu %llu", (unsigned long long)root.st_dev, (unsigned long long)root.st_ino);
            if (strcmp(shown, value)) return 0;
            break;
        case 'U': /* a variable that is not set */
            if (getenv(value)) return 0;
            break;
        case 'V': /* a variable and its value */
            if (!(equals = strchr(value, '='))) return 0;
            *equals = 0;
            const char *found = getenv(value);
            *equals = '=';
            if (!found || strcmp(found, equals + 1)) return 0;
            break;
        case 'X': /* a prefix of variables that affect how Python starts, and how many there are */
            if (!(equals = strchr(value, '='))) return 0;
            for (char **entry = envp; *entry; entry++) special += !strncmp(*entry, value, equals - value);
            listed += atoi(equals + 1);
            break;
        case 'A':
            answers++;
            break;
        }
    }
    return answers == 1 && special == listed && options == 1;
}

static int is_directory(const char *path) {
    struct stat seen;
    return stat(path, &seen) == 0 && S_ISDIR(seen.st_mode);
}

/* Finds the project as Python does (`project_of` in engine/receive.py, `Setup.of` in state/plans.py): the folder, and the
 * outermost folder above it that counts. */
static int is_same_project(struct table *table, struct wanted *wanted, int count) {
    char named[PATH_MAX] = "", project[PATH_MAX], outer[PATH_MAX], home[PATH_MAX], folder[PATH_MAX], git[PATH_MAX + 8];
    for (char *at = table->text; at < table->end && !*named; at = after(at)) {
        const char *value = *at == 'p' ? getenv(at + 1) : NULL;
        if (value && *value && is_directory(value)) {
            if (strlen(value) >= sizeof named) return 0;
            strcpy(named, value);
        }
    }
    for (int i = 0; i < count && !*named; i++) {
        if (!wanted[i].value || !wanted[i].size) continue;
        if (wanted[i].size >= sizeof named) return 0;
        memcpy(named, wanted[i].value, wanted[i].size);
        named[wanted[i].size] = 0;
        if (!is_directory(named)) *named = 0;
        break;
    }
    if (!*named && !getcwd(named, sizeof named)) return 0;
    const char *given = word_count > 4 && !strcmp(words[3], "--home") ? words[4] : getenv("HOME");
    if (!realpath(named, project) || !realpath(given && *given ? given : "/", home)) return 0;
    strcpy(folder, project);
    strcpy(outer, project);
    while (strcmp(folder, home) && strcmp(folder, "/")) {
        char above[PATH_MAX];
        strcpy(above, folder);
        char *slash = strrchr(above, '/');
        slash[slash == above] = 0;
        snprintf(git, sizeof git, "%s/.git", folder);
        if ((!strcmp(above, home) && strcmp(home, "/")) || access(git, F_OK) == 0) {
            strcpy(outer, folder);
            break;
        }
        strcpy(folder, above);
    }
    return has(table, 'R', project, strlen(project)) && has(table, 'O', outer, strlen(outer));
}

/* Whether no file has changed. */
static int is_same_disk(struct table *table) {
    char shown[PATH_MAX];
    for (char *at = table->text; at < table->end; at = after(at)) {
        if (*at != 'F' && *at != 'L' && *at != 'H') continue;
        char *path = at + 1;
        at = after(at);
        if (at >= table->end) return 0;
        if (*at == 'f') /* the stamp of the path before it; empty if there is no such file */
            describe(path, shown, sizeof shown);
        else if (*at == 'h') { /* the checksum of its bytes */
            if (!checksum(path, shown, sizeof shown)) return 0;
        } else if (*at != 'l' || !realpath(path, shown)) /* the path without links */
            return 0;
        if (strcmp(shown, at + 1)) return 0;
    }
    return 1;
}

/* Self-protection's first check of a command line (`_only_looks` in guard/guard.py), for lines without special
 * characters: every command only reads, no word is a program that changes something, and there is no text but the line
 * and its description. */
static int take_line(struct texts *texts, const char *text, size_t size) {
    static const char apart[] = " ;&|()<=,{}:/", commands[] = ";&|(){}";
    int begins = texts->key == LINE;
    if (texts->key == OTHER) return 0;
    for (size_t i = 0; i < size; i++)
        if (text[i] < 0x20 || text[i] > 0x7E || strchr("'\"\\>$`", text[i])) return 0;
    for (size_t i = 0; i < size;) {
        size_t word = 0;
        while (i + word < size && !strchr(apart, text[i + word])) word++;
        if (word) {
            if (has(texts->table, 'c', text + i, word)) return 0;
            if (begins && !has(texts->table, 'k', text + i, word)) return 0;
            begins = 0;
        }
        i += word;
        if (i < size && texts->key == LINE && strchr(commands, text[i])) begins = 1;
        i++;
    }
    return 1;
}

/* Whether self-protection allows a call: the tool only reads, nothing in its input can concern us, or its command line
 * only reads. If the input is missing, it is unknown what the call would do. */
static int is_allowed(struct table *table, const char *payload, size_t size, struct wanted *tool, struct texts *seen) {
    struct texts texts = {.path = seen->path, .take = take_line, .table = table};
    if (!seen->is_there || !tool->value || !tool->size || has(table, 's', tool->value, tool->size)) return 0;
    return has(table, 'r', tool->value, tool->size) || is_harmless(table, payload, size, seen->path, seen->is_line) ||
           (seen->is_line && !seen->is_odd && read_payload(payload, size, NULL, 0, &texts));
}

static int is_same_payload(struct table *table, const char *payload, size_t size) {
    struct wanted wanted[MAX_PATHS] = {{0}}, *tool = NULL;
    struct texts texts = {.table = table};
    int count = 0, projects = 0;
    for (char *at = table->text; at < table->end; at = after(at)) {
        if (!*at || !strchr("Ptiyo", *at)) continue;
        if (count == MAX_PATHS) return 0;
        if (*at == 't') tool = wanted + count;
        if (*at == 'i') texts.path = at + 1;
        if (*at == 'P') projects++; /* these come first */
        wanted[count++].path = at + 1;
    }
    if (texts.path && *texts.path == '\n') return 0; /* not a plain path: only Python can read it */
    if (!read_payload(payload, size, wanted, count, &texts)) return 0;
    /* A key of another agent's payloads, followed by the key that this agent's payloads then have too. Without the
     * second, another agent is calling. */
    for (int i = 0; i < count; i++)
        if (wanted[i].path[-1] == 'y' && wanted[i].seen && !(i + 1 < count && wanted[i + 1].seen)) return 0;
    if (!is_same_project(table, wanted, projects)) return 0;
    return !tool || is_allowed(table, payload, size, tool, &texts);
}

/* Adds a sign to the file that counts events handed over: `s` before, `x` if that failed. The server counts those that
 * it has written, so that events which a killed server has lost are known to be missing. */
static int count(const char *socket_path, char sign) {
    char path[PATH_MAX + 8];
    struct stat seen;
    snprintf(path, sizeof path, "%s.sent", socket_path);
    int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (file < 0) return 0;
    int counted = fstat(file, &seen) == 0 && S_ISREG(seen.st_mode) && write(file, &sign, 1) == 1;
    close(file);
    return counted;
}

/* Sends the event to the server in one datagram, or not at all. */
static int hand_over(const char *socket_path, char **argv, char **envp, char *payload, size_t size) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char here[PATH_MAX], *end = NULL;
    size_t arguments = in_one_piece(argv, &end), variables = in_one_piece(envp, &end);
    if (arguments == (size_t)-1 || variables == (size_t)-1 || !getcwd(here, sizeof here)) return 0;
    int length = snprintf(address.sun_path, sizeof address.sun_path, "%s.notes", socket_path);
    if (length < 0 || length >= (int)sizeof address.sun_path) return 0;
    uint32_t header[4] = {NOTE, arguments, variables, end - argv[0]};
    struct iovec parts[4] = {
        {header, sizeof header}, {argv[0], end - argv[0]}, {here, strlen(here) + 1}, {payload, size}};
    struct msghdr message = {
        .msg_name = &address, .msg_namelen = sizeof address, .msg_iov = parts, .msg_iovlen = size ? 4 : 3};
    int out = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (out < 0 || !count(socket_path, 's')) return 0;
    if (sendmsg(out, &message, MSG_NOSIGNAL) > 0) return 1;
    count(socket_path, 'x');
    return 0;
}

void answer_if_quiet(const char *socket_path, char **argv, char **envp, void (*keep_stdin)(void)) {
    struct table table = {0};
    struct stat seen;
    if (!load(&table, socket_path, argv) || !is_same_call(&table, socket_path, argv, envp)) return;
    keep_stdin();
    if (fstat(0, &seen) < 0 || seen.st_size <= 0 || seen.st_size > MAX_SIZE) return;
    char *payload = mmap(NULL, seen.st_size, PROT_READ, MAP_PRIVATE, 0, 0);
    if (payload == MAP_FAILED) return;
    if (!is_same_payload(&table, payload, seen.st_size) || !is_same_disk(&table)) return;
    const char *answer = NULL;
    for (char *at = table.text; at < table.end; at = after(at))
        if (*at == 'A') answer = at + 1;
    if (!answer || !hand_over(socket_path, argv, envp, payload, seen.st_size)) return;
    signal(SIGPIPE, SIG_IGN);
    for (size_t size = strlen(answer); size;) {
        ssize_t written = write(1, answer, size);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0 && errno == EPIPE) break; /* if the reader has gone away, that is not an error */
        if (written < 0) {
            dprintf(2, "anyhook bridge: the answer could not be written (%s)\n", strerror(errno));
            _exit(2);
        }
        answer += written;
        size -= written;
    }
    _exit(0);
}
