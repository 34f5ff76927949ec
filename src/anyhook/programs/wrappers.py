"""Tables of programs that run other programs: how each names what it runs, and which settings contain a shell line."""

from __future__ import annotations

from fnmatch import fnmatchcase

from anyhook.model.record import Record
from anyhook.programs.commands import SHELLS
from anyhook.programs.found import EXECS, fd_files, found_files
from anyhook.programs.program import Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Wrapper(Record):
    """How a program names the one that it runs."""

    values: str = ""
    """Its short options that take a value, then long ones, separated by spaces."""
    skip: int = 0
    """How many words come between its options and the program."""
    folder: tuple[str, ...] = ()
    """Options that change the folder."""
    line: tuple[str, ...] = ()
    """Options whose value is a shell line."""
    joined: bool = False
    """Whether its arguments are joined into a shell line."""
    remote: bool = False
    """Whether it runs elsewhere."""
    keep: bool = False
    """Whether it is reported itself."""
    writes: tuple[str, ...] = ()
    """Options with which it writes a file, and is then reported itself."""
    verbs: tuple[str, ...] = ()
    """Its sub-commands that run something; without one of them it runs nothing."""
    packages: bool = False
    """Whether it runs programs of packages, whose names may carry a version: `rimraf@5`."""


PLAIN = Wrapper()

TMUX_VERBS = ("new-session", "new", "new-window", "neww", "send-keys", "send", "split-window", "run-shell")

WRAPPERS = {
    "sudo": Wrapper("ughpCrtTUDR user group host prompt close-from role type chdir chroot other-user", folder=("-D",
        "--chdir")),
    "doas": Wrapper("uC"),
    "env": Wrapper("uCS unset chdir split-string", folder=("-C", "--chdir"), line=("-S", "--split-string")),
    "nice": Wrapper("n adjustment"), "ionice": Wrapper("cnpPu class classdata pid"), "chrt": Wrapper("TPD", skip=1),
    "taskset": Wrapper("", skip=1), "timeout": Wrapper("sk signal kill-after", skip=1),
    "gtimeout": Wrapper("sk", skip=1),
    "stdbuf": Wrapper("ioe input output error"),
    "time": Wrapper("of output format", writes=("-o", "--output")), "exec": Wrapper("a"),
    "nohup": PLAIN, "setsid": PLAIN, "builtin": PLAIN, "command": PLAIN, "busybox": PLAIN, "toybox": PLAIN,
    "unbuffer": PLAIN, "coproc": PLAIN, "noglob": PLAIN, "nocorrect": PLAIN, "-": PLAIN, "caffeinate": Wrapper("tw"),
    "watch": Wrapper("nq interval equexit", joined=True), "strace": Wrapper("aeopsuEIOPSUX", keep=True),
    "ltrace": Wrapper("aelnopsuAD", keep=True),
    "perf": Wrapper("oepF output", keep=True, verbs=("stat", "record")), "chroot": Wrapper("", skip=1, remote=True),
    "pkexec": Wrapper("u user"),
    "flock": Wrapper("wEc timeout command", skip=1, line=("-c", "--command")), "gosu": Wrapper(skip=1),
    "su-exec": Wrapper(skip=1), "runuser": Wrapper("ucgGs user command group shell", line=("-c", "--command")),
    "su": Wrapper("cgGsw command group shell", line=("-c", "--command"), skip=1, keep=True),
    "script": Wrapper("cEIBmoOT command echo log-in log-out log-io log-timing output-limit", line=("-c", "--command"),
        skip=1, keep=True),
    "unshare": Wrapper("SGRw setuid setgid root wd"), "nsenter": Wrapper("tSGrw target"),
    "systemd-run": Wrapper("pHMEu unit property setenv"),
    "dbus-run-session": PLAIN, "firejail": PLAIN, "torsocks": PLAIN, "torify": PLAIN, "proxychains": Wrapper("f"),
    "proxychains4": Wrapper("f"),
    "rlwrap": Wrapper("fHC"), "fakeroot": Wrapper("lsib"), "arch": PLAIN, "cross-env": PLAIN,
    "dotenv": Wrapper("ef", skip=0),
    "entr": PLAIN, "setarch": Wrapper(skip=1), "prlimit": Wrapper("o"), "cgexec": Wrapper("g"),
    "faketime": Wrapper("f", skip=1),
    "hyperfine": Wrapper("wrmMpcsSnu warmup runs prepare cleanup setup", joined=True),
    "direnv": Wrapper(verbs=("exec",), skip=1),
    "uv": Wrapper("p python with project directory", verbs=("run",)), "poetry": Wrapper("C", verbs=("run",)),
    "pipenv": Wrapper(verbs=("run",)), "pdm": Wrapper("p", verbs=("run",)), "hatch": Wrapper("e", verbs=("run",)),
    "rye": Wrapper(verbs=("run",)),
    "bundle": Wrapper(verbs=("exec",)), "mise": Wrapper(verbs=("exec", "x")), "asdf": Wrapper(verbs=("exec",)),
    "rbenv": Wrapper(verbs=("exec",)), "pyenv": Wrapper(verbs=("exec",)),
    "conda": Wrapper("np name prefix cwd", verbs=("run",)), "mamba": Wrapper("np", verbs=("run",)),
    "op": Wrapper(verbs=("run",)), "doppler": Wrapper("pc", verbs=("run",)),
    "aws-vault": Wrapper("", skip=1, verbs=("exec",)), "nix": Wrapper(verbs=("run",)),
    "nix-shell": Wrapper("pAI", line=("--run", "--command")),
    "ssh": Wrapper("bcDEeFIiJlmoOpQRSWwL", skip=1, joined=True, remote=True, keep=True),
    "mosh": Wrapper("", skip=1, joined=True, remote=True, keep=True),
    "docker": Wrapper("uewvpmhlc user env workdir volume publish name network entrypoint env-file label mount "
        "memory hostname platform cpus add-host gpus", skip=1, remote=True, keep=True, verbs=("exec", "run")),
    "podman": Wrapper("uewvpmhl user env workdir volume publish name network entrypoint env-file label mount",
        skip=1, remote=True, keep=True, verbs=("exec", "run")),
    "nerdctl": Wrapper("uewvpmhl user env workdir volume publish name network", skip=1, remote=True, keep=True,
        verbs=("exec", "run")),
    "kubectl": Wrapper("ncf namespace container filename", skip=1, remote=True, keep=True, verbs=("exec",)),
    "oc": Wrapper("ncf namespace container", skip=1, remote=True, keep=True, verbs=("exec", "rsh")),
    "adb": Wrapper("sHP", joined=True, remote=True, keep=True, verbs=("shell",)),
    "vagrant": Wrapper("c command", line=("-c", "--command"), remote=True, keep=True, verbs=("ssh",)),
    "wsl": Wrapper("dus"), "multipass": Wrapper("n", skip=1, remote=True, keep=True, verbs=("exec",)),
    "lxc": Wrapper("", skip=1, remote=True, keep=True, verbs=("exec",)),
    "tsocks": PLAIN, "ccache": PLAIN, "distcc": PLAIN, "valgrind": Wrapper(keep=True),
    "gdb": Wrapper("xp", verbs=("--args",)),
    "xvfb-run": Wrapper("nesw"),
    "start-stop-daemon": Wrapper("xpunc exec pidfile user name chuid startas", skip=0),
    "screen": Wrapper("SLshtTce"), "tmux": Wrapper("tnscxyF", verbs=TMUX_VERBS, joined=True),
    "ld-linux-x86-64.so.2": PLAIN, "ld-linux.so.2": PLAIN,
    "sshpass": Wrapper("pfd"), "retry": Wrapper("dtm"), "chronic": PLAIN, "sem": Wrapper("j"), "ts-node-dev": PLAIN,
    "cmake": Wrapper(verbs=("-E",), keep=True),
    "shx": PLAIN, "dumb-init": PLAIN, "tini": PLAIN, "catchsegv": PLAIN, "eatmydata": PLAIN, "cpulimit": Wrapper("lpe"),
    "setpriv": Wrapper(" reuid regid groups"), "choom": Wrapper("np"), "numactl": Wrapper("NCmp"),
    "chpst": Wrapper("uUebdmoplfcr/"), "envdir": Wrapper(skip=1), "setuidgid": Wrapper(skip=1),
    "s6-setuidgid": Wrapper(skip=1), "logsave": Wrapper(skip=1, keep=True), "dtach": Wrapper("nAce", skip=0),
    "tsp": Wrapper("L"), "runcon": Wrapper("turl", skip=1), "bwrap": Wrapper("", keep=True),
    "sg": Wrapper("c", skip=1, line=("-c",)), "capsh": Wrapper("c", line=("-c",)),
    "flatpak-spawn": PLAIN, "toolbox": Wrapper("c container", verbs=("run",)),
    "xterm": Wrapper("eT display", line=("-e",), keep=True), "konsole": Wrapper("", verbs=("-e",)),
    "gnome-terminal": Wrapper("", verbs=("--", "-e")), "nodemon": Wrapper("xew exec ext watch", line=("-x", "--exec")),
    "watchexec": Wrapper("ewi"), "watchmedo": Wrapper("cp command patterns", line=("-c", "--command")),
    "dotenvx": Wrapper("f", verbs=("run",)), "infisical": Wrapper(" env path", verbs=("run",)),
    "chamber": Wrapper("", skip=1, verbs=("exec",)), "foreman": Wrapper("e", verbs=("run",)),
    "sops": Wrapper("", skip=1, joined=True, verbs=("exec-env", "exec-file")), "corepack": PLAIN,
    **dict.fromkeys(("npx", "pnpx", "bunx", "uvx"), Wrapper("pc package call from with python", line=("-c", "--call"),
        keep=True, packages=True)),
    "npm": Wrapper("pc package call", line=("-c", "--call"), keep=True, verbs=("exec", "x"), packages=True),
    "pnpm": Wrapper("cCF package filter dir", keep=True, verbs=("exec", "dlx"), packages=True),
    "yarn": Wrapper("p package", keep=True, verbs=("exec", "dlx"), packages=True),
    "bun": Wrapper("", keep=True, verbs=("x",), packages=True),
    "pipx": Wrapper(" spec python", keep=True, verbs=("run",), packages=True),
    "heroku": Wrapper("a app size", joined=True, remote=True, keep=True, verbs=("run",)),
    **dict.fromkeys(("fly", "flyctl"), Wrapper("aC app command", line=("-C", "--command"), remote=True, keep=True,
        verbs=("console",))),
    "gcloud": Wrapper(" command zone project", line=("--command",), remote=True, keep=True, verbs=("ssh",)),
    "az": Wrapper("gn scripts command-id", line=("--scripts",), remote=True, keep=True, verbs=("run-command",)),
    "ansible": Wrapper("imau args", line=("-a", "--args"), remote=True, keep=True),
    **dict.fromkeys(("pdsh", "clush", "dsh"), Wrapper("wxfgM", joined=True, remote=True, keep=True)),
    **dict.fromkeys(("pssh", "parallel-ssh"), Wrapper("hHlptoe", joined=True, remote=True, keep=True)),
    **dict.fromkeys(("salt", "salt-call", "salt-ssh"), Wrapper("", joined=True, remote=True, keep=True,
        verbs=("cmd.run", "cmd.shell"))),
    "limactl": Wrapper("", skip=1, remote=True, keep=True, verbs=("shell",)),
    "incus": Wrapper("", skip=1, remote=True, keep=True, verbs=("exec",)),
    "machinectl": Wrapper("", skip=1, remote=True, keep=True, verbs=("shell",)),
    "distrobox": Wrapper("n name", skip=1, verbs=("enter",)),
}  # fmt: skip

FED_SHELLS = ("ssh", "su", "sudo", "at", "batch", "mosh", "chroot", "adb")

"""Programs that run their input as shell lines if they get no other command."""

OTHER_SHELLS = ("fish", "nu", "csh", "tcsh", "ash", "rbash", "mksh", "yash", "elvish", "xonsh")

"""Shells with a different language, in which a simple command is much the same."""

FOR_EACH = ("xargs", "parallel")

"""Programs that run another for each word of their input."""

XARGS = Wrapper("InPLdEsa max-args max-procs max-lines delimiter eof max-chars arg-file replace process-slot-var")

PARALLEL = Wrapper("jnNLSaId jobs joblog delay timeout retries tmpdir results colsep arg-file")

COMPOSE = ("docker-compose", "podman-compose")

GIT_LINES = {
    "rebase": ("-x", "--exec"), "filter-branch": (
        "--tree-filter", "--index-filter", "--msg-filter", "--env-filter", "--commit-filter", "--parent-filter",
        "--tag-name-filter", "--setup",
    ),
    "difftool": ("-x", "--extcmd"), "grep": ("--open-files-in-pager",),
    **dict.fromkeys(("clone", "fetch", "pull", "ls-remote", "fetch-pack"), ("-u", "--upload-pack", "--exec")),
    **dict.fromkeys(("push", "send-pack"), ("--receive-pack", "--exec")), "archive": ("--exec",),
}  # fmt: skip

"""By sub-command, the options of git whose value is a shell line."""

GIT_LINE_SETTINGS = (
    "core.sshcommand", "core.pager", "core.editor", "core.fsmonitor", "core.askpass", "core.gitproxy", "diff.external",
    "sequence.editor", "gpg.program", "credential.helper", "uploadpack.packobjectshook", "interactive.difffilter",
)  # fmt: skip

"""Settings of git whose value is a shell line,"""

GIT_LINE_ENDS = (".cmd", ".textconv", ".clean", ".smudge", ".process", ".command", ".driver", ".helper")

"""and the ends of others."""

LINE_VARIABLES = frozenset(
    {
        "GIT_SSH_COMMAND", "GIT_SSH", "GIT_PAGER", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_EXTERNAL_DIFF",
        "GIT_PROXY_COMMAND", "GIT_ASKPASS", "SSH_ASKPASS", "SUDO_ASKPASS", "PAGER", "MANPAGER", "EDITOR", "VISUAL",
        "SUDO_EDITOR", "LESSOPEN", "PROMPT_COMMAND", "RSYNC_RSH", "FZF_DEFAULT_COMMAND", "BROWSER", "CVS_RSH",
        "SVN_SSH", "LESSCLOSE", "SYSTEMD_PAGER", "SYSTEMD_EDITOR", "BAT_PAGER", "DELTA_PAGER", "AWS_PAGER", "GH_PAGER",
        "GH_EDITOR", "KUBE_EDITOR", "FCEDIT", "HGEDITOR", "SVN_EDITOR",
    }
)  # fmt: skip

"""Variables whose value others run as a shell line."""

OFTEN_HIDDEN = (
    "rm", "sh", "bash", "cat", "dd", "nc", "cp", "mv", "ln", "tee", "curl", "wget", "chmod", "chown", "kill", "find",
    "perl", "python3", "shred", "base64", "git", "mkfs", "shutdown", "reboot",
)  # fmt: skip

"""Programs whose names people hide behind wildcards."""


# Programs that run other programs: the other program comes after their options, in a word that is a shell line, or
# between `-exec` and `;`.


class InnerCommand(Record):
    """What a program runs: words, or a shell line."""

    label: str
    words: tuple[Word, ...] = ()
    line: Word | None = None
    params: tuple[Word, ...] = ()
    """The values of `$0`, `$1` … in the line."""
    folder: Word | None = None
    set: tuple[tuple[str, Word], ...] = ()
    remote: bool = False
    keep: bool = False


FINDERS = ("find", "gfind", "fd", "fdfind", "bfs")

RUNNERS = frozenset(
    {*WRAPPERS, *FED_SHELLS, *SHELLS, *OTHER_SHELLS, *FOR_EACH, *FINDERS, *COMPOSE, "crontab", "git"}
)  # fmt: skip

"""Programs that run others."""

GIT_WORDS = frozenset({"foreach", "run", "-c", *GIT_LINES})

"""A call of git that runs a line has one of these words."""


def inner_commands(name: str, words: Sequence[Word], stdin: Sequence[Word], script: Word | None) -> list[InnerCommand]:
    """The commands that a command runs. `script` is its input, if that is known."""
    if name not in RUNNERS and not name.startswith(("python", "pypy")):
        return []
    fed = WRAPPERS.get(name)
    if name in FED_SHELLS and script is not None and not (fed is not None and _wrapped(name, fed, words)):
        return [_fed(name, fed or PLAIN, words, script)]
    if name == "crontab" and script is not None:
        return list(_scheduled(script))
    if name in SHELLS or name in OTHER_SHELLS:
        return _shell(name, words)
    if name in FOR_EACH:
        return _for_each(name, words, stdin, script)
    if name in FINDERS:
        return list(_found(name, words))
    if name == "git":
        return [] if GIT_WORDS.isdisjoint([word.text for word in words]) else list(_by_git(words))
    if name.startswith(("python", "pypy")):
        return _module(name, words)
    wrapper = WRAPPERS.get("docker" if name in COMPOSE else name)
    if wrapper is None or (name == "command" and words[1:] and words[1].text in ("-v", "-V")):
        return []
    return _wrapped(name, wrapper, words)


def likely_programs(pattern: str) -> list[Word]:
    """The harmful programs that a name with wildcards may match: `r[m]`, `/???/c?t`."""
    return [Word(name, name) for name in OFTEN_HIDDEN if fnmatchcase(name, pattern)] if pattern.strip("*") else []


def _fed(name: str, wrapper: Wrapper, words: Sequence[Word], script: Word) -> InnerCommand:
    """What a program runs if it reads shell lines from its input."""
    rest = _past_options(words[1:], wrapper.values)[0]
    label = " ".join([name, *(word.source for word in rest[:1])])
    return InnerCommand(label, line=script, remote=wrapper.remote, keep=True)


def _scheduled(table: Word) -> Iterator[InnerCommand]:
    """The lines of a table for `crontab`, without their times."""
    for line in table.text.splitlines():
        words = line.split(None, 1 if line.startswith("@") else 5)
        if len(words) == (2 if line.startswith("@") else 6) and not line.startswith("#"):
            yield InnerCommand("crontab", line=Word(words[-1], words[-1]), keep=True)


def _wrapped(name: str, wrapper: Wrapper, words: Sequence[Word]) -> list[InnerCommand]:
    rest, label = list(words[1:]), name
    if name == "docker" and rest[:1] and rest[0].text in ("compose", "container"):
        rest.pop(0)
    if wrapper.verbs:
        place = next((at for at, word in enumerate(rest) if word.text in wrapper.verbs), -1)
        if place < 0:
            return []
        label = f"{name} {rest[place].text}"
        rest = rest[place + 1 :]
    assigned: list[tuple[str, Word]] = []
    rest, options = _past_options(rest, wrapper.values)
    if any(option in wrapper.writes for option, _ in options):
        wrapper = wrapper.replace(keep=True)
    folder = next((value for option, value in options if option in wrapper.folder), None)
    line = next((value for option, value in (*options, *_later(rest, wrapper)) if option in wrapper.line), None)
    if name == "screen" and (stuffed := _after(rest, "stuff")):
        return [InnerCommand("screen -X stuff", line=stuffed[0])]
    if line is not None and name != "env":
        return [InnerCommand(f"{label} -c", line=line, remote=wrapper.remote, keep=wrapper.keep)]
    if name in ("su", "script", "runuser") and (
        name != "runuser" or not any(option in ("-u", "--user") for option, _ in options)
    ):
        return []
    if wrapper.remote and wrapper.skip and rest:
        label = f"{label} {rest[0].source}"
    if name == "chroot" and rest[:1] and rest[0].text == "/":
        wrapper = wrapper.replace(remote=False)
    rest = rest[wrapper.skip :]
    if rest[:1] and rest[0].text == "--":
        rest = rest[1:]
    while rest and name in ("env", "sudo", "doas", "cross-env", "systemd-run") and _is_assignment(rest[0]):
        word = rest.pop(0)
        key, _, given = word.text.partition("=")
        assigned.append((key, Word(given, word.source.partition("=")[2])))
    if line is not None:  # env -S
        return [InnerCommand("env -S", line=_joined([line, *rest]), folder=folder, set=tuple(assigned))]
    if not rest:
        return []
    if wrapper.packages:
        rest[0] = _without_version(rest[0])
    if wrapper.joined and (len(rest) > 1 or " " in rest[0].text or wrapper.remote):
        return [InnerCommand(label, line=_joined(rest), remote=wrapper.remote, keep=wrapper.keep)]
    return [
        InnerCommand(label, tuple(rest), folder=folder, set=tuple(assigned), remote=wrapper.remote, keep=wrapper.keep)
    ]


def _later(words: Sequence[Word], wrapper: Wrapper) -> list[tuple[str, Word]]:
    """The options with a shell line that come after other words: `su postgres -c LINE`. (Not for `env`: what it runs
    has its own options.)"""
    if "--split-string" in wrapper.line:
        return []
    texts = [word.text for word in words]
    found = [(text, words[place + 1]) for place, text in enumerate(texts[:-1]) if text in wrapper.line]
    for word in words:
        name, sign, value = word.text.partition("=")
        if sign and name.startswith("--") and name in wrapper.line:
            found.append((name, Word(value, word.source.partition("=")[2])))
    return found


def _after(words: Sequence[Word], text: str) -> list[Word]:
    """The words after this one; empty without it."""
    texts = [word.text for word in words]
    return list(words[texts.index(text) + 1 :]) if text in texts else []


def _without_version(word: Word) -> Word:
    """The program of a package: `rimraf` for `rimraf@5`."""
    place = word.text.find("@", 1)
    return Word(word.text[:place], word.text[:place]) if place > 0 and word.known else word


def _module(name: str, words: Sequence[Word]) -> list[InnerCommand]:
    """`python -m MODULE`, which is the program of that name."""
    rest = list(words[1:])
    while rest and rest[0].text.startswith("-") and not rest[0].text.startswith("--") and rest[0].text != "-":
        letters = rest.pop(0).text[1:]
        place = next((at for at, letter in enumerate(letters) if letter in "mcWX"), len(letters))
        value = letters[place + 1 :]
        if letters[place : place + 1] == "m":
            made = [Word(value, value), *rest] if value else rest
            return [InnerCommand(f"{name} -m", tuple(made), keep=True)] if made else []
        if letters[place : place + 1] == "c":
            return []
        if place < len(letters) and not value and rest:
            rest.pop(0)
    return []


def _past_options(words: Sequence[Word], values: str) -> tuple[list[Word], list[tuple[str, Word]]]:
    """The words after the options, and the options that have a value."""
    short, *long = values.split(" ")
    rest, found = list(words), []
    while rest and rest[0].text.startswith("-") and rest[0].text != "-":
        word = rest.pop(0)
        text = word.text
        if text == "--":
            break
        name, sign, value = text.partition("=")
        if text.startswith("--"):
            if sign:
                found.append((name, Word(value, word.source.partition("=")[2])))
            elif name[2:] in long and rest:
                found.append((name, rest.pop(0)))
            else:
                found.append((name, Word("", "")))
            continue
        for place, letter in enumerate(text[1:], 1):
            if letter in short:
                value = text[place + 1 :]
                if value:
                    found.append((f"-{letter}", Word(value, value)))
                elif rest:
                    found.append((f"-{letter}", rest.pop(0)))
                break
            found.append((f"-{letter}", Word("", "")))
    return rest, found


def _is_assignment(word: Word) -> bool:
    name, sign, _ = word.text.partition("=")
    return bool(sign) and name.isidentifier()


def _joined(words: Sequence[Word]) -> Word:
    origins = tuple(origin for word in words for origin in word.origins)
    return Word(" ".join(word.text for word in words), " ".join(word.source for word in words), False, origins)


def _shell(name: str, words: Sequence[Word]) -> list[InnerCommand]:
    """`bash -c LINE`, also as `-lc`, `-o pipefail -c` or `--norc -c`."""
    rest = list(words[1:])
    while rest and rest[0].text[:1] in ("-", "+") and len(rest[0].text) > 1:
        text = rest.pop(0).text
        if text in ("--rcfile", "--init-file", "-o", "+o", "-O", "+O") and rest:
            rest.pop(0)
        elif text in ("-n", "-nc"):  # it only checks the syntax
            return []
        elif not text.startswith("--") and text[0] == "-" and "c" in text[1:]:
            while rest and rest[0].text[:1] == "-" and len(rest[0].text) > 1:
                rest.pop(0)
            return [InnerCommand(f"{name} -c", line=rest[0], params=tuple(rest[1:]))] if rest else []
    return []


def _for_each(name: str, words: Sequence[Word], stdin: Sequence[Word], script: Word | None) -> list[InnerCommand]:
    """`xargs` and `parallel` with the words that they add: at the end, or for a placeholder."""
    rest, options = _past_options(words[1:], (XARGS if name == "xargs" else PARALLEL).values)
    sign = next((value.text for option, value in options if option in ("-I", "-i", "--replace")), "")
    given = list(stdin)
    if sign and script is not None:  # it then uses whole lines
        given = [Word(line, line) for line in script.text.splitlines() if line] if script.known else [script]
    if name == "parallel":
        sign = sign or "{}"
        marks = [place for place, word in enumerate(rest) if word.text in (":::", "::::")]
        if marks:
            given = [word for word in rest[marks[0] + 1 :] if word.text not in (":::", "::::")]
            if rest[marks[0]].text == "::::":  # files that contain them
                given = [Word("\0", f"$(cat {word.source})") for word in given]
            rest = rest[: marks[0]]
    if not rest:
        if name == "parallel" and stdin:
            return [InnerCommand(name, line=word) for word in stdin]
        return []
    if sign and any(sign in word.text for word in rest):
        made = [part for word in rest for part in _filled(word, sign, given)]
    else:
        made = [*rest, *given]
    if name == "parallel" and len(rest) == 1 and " " in rest[0].text:
        return [InnerCommand(name, line=_joined(made))]
    return [InnerCommand(name, tuple(made))]


def argument_file(words: Sequence[Word]) -> Word | None:
    """The file of `xargs -a FILE`, which it reads instead of its input."""
    options = _past_options(words[1:], XARGS.values)[1]
    return next((value for option, value in options if option in ("-a", "--arg-file")), None)


def _filled(word: Word, sign: str, given: Sequence[Word]) -> list[Word]:
    """A word with the placeholder replaced. Some programs print names and some print paths, so after a folder
    (`DIR/{}`) a name alone counts too."""
    if sign not in word.text:
        return [word]
    names = [Word(each.text.rpartition("/")[2], each.source.rpartition("/")[2], each.globs, each.origins)
             for each in given if f"/{sign}" in word.text and "/" in each.text]  # fmt: skip
    return [
        Word(word.text.replace(sign, each.text), word.source.replace(sign, each.source), each.globs, each.origins)
        for each in (*given, *names)
    ] or [word]


def _found(name: str, words: Sequence[Word]) -> Iterator[InnerCommand]:
    """What `find` runs for each file: the placeholder stands for anything below the start folders."""
    below = found_files(words) if "find" in name or name == "bfs" else fd_files(words)
    place = 0
    while place < len(words):
        if words[place].text in EXECS:
            end = next((at for at in range(place + 1, len(words)) if words[at].text in (";", "+")), len(words))
            made = [part for word in words[place + 1 : end] for part in _filled(word, "{}", below)]
            if name in ("fd", "fdfind") and not any("{" in word.text for word in words[place + 1 : end]):
                made += below
            if made:
                yield InnerCommand(f"{name} {words[place].text}", tuple(made), keep=True)
            place = end
        place += 1


def _by_git(words: Sequence[Word]) -> Iterator[InnerCommand]:
    """Lines that git runs: `submodule foreach`, `bisect run`, `rebase --exec`, filters, `!` aliases."""
    texts = [word.text for word in words]
    for place, text in enumerate(texts[:-1]):
        following = words[place + 1]
        if text == "foreach" and "submodule" in texts[:place]:
            rest = [word for word in words[place + 1 :] if not word.text.startswith("--")]
            yield InnerCommand("git submodule foreach", line=_joined(rest), keep=True)
        elif text == "run" and "bisect" in texts[:place]:
            yield InnerCommand("git bisect run", tuple(words[place + 1 :]), keep=True)
        elif text == "-c":
            yield from _set_for_git(following, words[place + 2 :])
    if "grep" in texts:
        opened = [Word(word.text[2:], word.source[2:]) for word in words if word.text.startswith("-O")]
        yield from (InnerCommand("git grep -O", line=line, keep=True) for line in opened if line.text)
    for verb, options in GIT_LINES.items():
        if verb in texts:
            lines = _later(_after(words, verb), Wrapper(line=options))
            yield from (InnerCommand(f"git {option}", line=line, keep=True) for option, line in lines)


def _set_for_git(setting: Word, rest: Sequence[Word]) -> Iterator[InnerCommand]:
    """What a git setting for one call runs."""
    key, _, text = setting.text.partition("=")
    value = Word(text, setting.source.partition("=")[2])
    name = key.lower().removeprefix("alias.")
    if name == key.lower():
        pager = name.startswith("pager.") and text.lower() not in (
            "true",
            "false",
            "yes",
            "no",
            "on",
            "off",
            "1",
            "0",
            "",
        )
        if pager or name in GIT_LINE_SETTINGS or name.endswith(GIT_LINE_ENDS):
            yield InnerCommand(
                f"git -c {key}", line=Word(text.removeprefix("!"), value.source.removeprefix("!")), keep=True
            )
    elif text.startswith("!"):
        yield InnerCommand(
            "git alias", line=_joined([Word(text[1:], value.source[1:]), *_after(rest, name)]), keep=True
        )
    elif any(word.text == name for word in rest):
        yield InnerCommand("git alias", line=_joined([Word("git", "git"), value, *_after(rest, name)]), keep=True)
