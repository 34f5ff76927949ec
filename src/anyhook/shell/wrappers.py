"""Programs that run other programs: what is run is found behind their options, in a word that is a shell line, or
between `-exec` and `;`. Tables, and one function that reads them."""

from __future__ import annotations

from anyhook.model.record import Record
from anyhook.shell.commands import SHELLS
from anyhook.shell.found import EXECS, fd_files, found_files
from anyhook.shell.program import Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Wrapper(Record):
    """How a program names the one that it runs."""

    values: str = ""
    """Its short options that take a value, and its long ones after a blank."""
    skip: int = 0
    """How many words come between its options and the program."""
    folder: tuple[str, ...] = ()
    """Options by which it changes the folder."""
    line: tuple[str, ...] = ()
    """Options whose value is a shell line."""
    joined: bool = False
    """Whether the words are put together to a shell line."""
    remote: bool = False
    """Whether it runs elsewhere."""
    keep: bool = False
    """Whether it is itself worth telling of."""
    verbs: tuple[str, ...] = ()
    """Its sub-commands that run something; without one of them it runs nothing."""


class InnerCommand(Record):
    """What a program runs: words, or a shell line."""

    label: str
    words: tuple[Word, ...] = ()
    line: Word | None = None
    params: tuple[Word, ...] = ()
    """What `$0`, `$1` … are in the line."""
    folder: Word | None = None
    set: tuple[tuple[str, Word], ...] = ()
    remote: bool = False
    keep: bool = False


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
    "stdbuf": Wrapper("ioe input output error"), "time": Wrapper("of output format"), "exec": Wrapper("a"),
    "nohup": PLAIN, "setsid": PLAIN, "builtin": PLAIN, "command": PLAIN, "busybox": PLAIN, "toybox": PLAIN,
    "unbuffer": PLAIN, "coproc": PLAIN, "noglob": PLAIN, "nocorrect": PLAIN, "-": PLAIN, "caffeinate": Wrapper("tw"),
    "watch": Wrapper("nq interval equexit", joined=True), "strace": Wrapper("aeopsuEIOPSUX"),
    "ltrace": Wrapper("aelnopsuAD"),
    "perf": Wrapper("oepF", verbs=("stat", "record")), "chroot": Wrapper("", skip=1, remote=True),
    "pkexec": Wrapper("u user"),
    "flock": Wrapper("wEc timeout command", skip=1, line=("-c", "--command")), "gosu": Wrapper(skip=1),
    "su-exec": Wrapper(skip=1), "runuser": Wrapper("ucgGs user command group shell", line=("-c", "--command")),
    "su": Wrapper("cgGsw command group shell", line=("-c", "--command"), skip=1),
    "script": Wrapper("cEImoOtTB command", line=("-c", "--command"), skip=1),
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
    "uvx": Wrapper("p python from with"), "pipx": Wrapper(" spec python", verbs=("run",)),
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
    "tsocks": PLAIN, "ccache": PLAIN, "distcc": PLAIN, "valgrind": PLAIN, "gdb": Wrapper("xp", verbs=("--args",)),
    "xvfb-run": Wrapper("nesw"),
    "start-stop-daemon": Wrapper("xpunc exec pidfile user name chuid startas", skip=0),
    "screen": Wrapper("SLshtTce"), "tmux": Wrapper("tnscxyF", verbs=TMUX_VERBS, joined=True),
    "ld-linux-x86-64.so.2": PLAIN, "ld-linux.so.2": PLAIN,
    "sshpass": Wrapper("pfd"), "retry": Wrapper("dtm"), "chronic": PLAIN, "sem": Wrapper("j"), "ts-node-dev": PLAIN,
}  # fmt: skip
FED_SHELLS = ("ssh", "su", "sudo", "at", "batch", "mosh", "chroot", "adb")
"""Programs that run what they read as a shell line, where they are given no other."""
XARGS = Wrapper("InPLdEsa max-args max-procs max-lines delimiter eof max-chars arg-file replace process-slot-var")
PARALLEL = Wrapper("jnNLSaId jobs joblog delay timeout retries tmpdir results colsep arg-file")
COMPOSE = ("docker-compose", "podman-compose")
GIT_LINES = {"rebase": ("-x", "--exec"), "filter-branch": (
    "--tree-filter", "--index-filter", "--msg-filter", "--env-filter", "--commit-filter", "--parent-filter",
    "--tag-name-filter", "--setup",
)}  # fmt: skip


def inner_commands(name: str, words: Sequence[Word], stdin: Sequence[Word], script: Word | None) -> list[InnerCommand]:
    """What a command runs in its turn; nothing for one that runs nothing else. `script` is its input, where that is
    known."""
    fed = WRAPPERS.get(name)
    if name in FED_SHELLS and script is not None and not (fed is not None and _wrapped(name, fed, words)):
        return [_fed(name, fed or PLAIN, words, script)]
    if name == "crontab" and script is not None:
        return list(_scheduled(script))
    if name in SHELLS:
        return _shell(name, words)
    if name in ("xargs", "parallel"):
        return _for_each(name, words, stdin, script)
    if name in ("find", "gfind", "fd", "fdfind", "bfs"):
        return list(_found(name, words))
    if name == "git":
        return list(_by_git(words))
    wrapper = WRAPPERS.get("docker" if name in COMPOSE else name)
    if wrapper is None or (name == "command" and words[1:] and words[1].text in ("-v", "-V")):
        return []
    return _wrapped(name, wrapper, words)


def _fed(name: str, wrapper: Wrapper, words: Sequence[Word], script: Word) -> InnerCommand:
    """What a program runs that takes its input for a shell line."""
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
    folder: Word | None = None
    line: Word | None = None
    assigned: list[tuple[str, Word]] = []
    rest, options = _past_options(rest, wrapper.values)
    for option, value in options:
        if option in wrapper.folder:
            folder = value
        if option in wrapper.line:
            line = value
    if name == "script":
        wrapper = wrapper.replace(skip=0)
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
    if wrapper.joined and (len(rest) > 1 or " " in rest[0].text or wrapper.remote):
        return [InnerCommand(label, line=_joined(rest), remote=wrapper.remote, keep=wrapper.keep)]
    return [
        InnerCommand(label, tuple(rest), folder=folder, set=tuple(assigned), remote=wrapper.remote, keep=wrapper.keep)
    ]


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
        elif not text.startswith("--") and text[0] == "-" and "c" in text[1:]:
            while rest and rest[0].text[:1] == "-" and len(rest[0].text) > 1:
                rest.pop(0)
            return [InnerCommand(f"{name} -c", line=rest[0], params=tuple(rest[1:]))] if rest else []
    return []


def _for_each(name: str, words: Sequence[Word], stdin: Sequence[Word], script: Word | None) -> list[InnerCommand]:
    """`xargs` and `parallel` with what they add: at the end, or in place of a sign."""
    rest, options = _past_options(words[1:], (XARGS if name == "xargs" else PARALLEL).values)
    sign = next((value.text for option, value in options if option in ("-I", "-i", "--replace")), "")
    given = list(stdin)
    if sign and script is not None:  # which then takes whole lines
        given = [Word(line, line) for line in script.text.splitlines() if line] if script.known else [script]
    if name == "parallel":
        sign = sign or "{}"
        marks = [place for place, word in enumerate(rest) if word.text in (":::", "::::")]
        if marks:
            given = [word for word in rest[marks[0] + 1 :] if word.text not in (":::", "::::")]
            if rest[marks[0]].text == "::::":  # files that hold them
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


def _filled(word: Word, sign: str, given: Sequence[Word]) -> list[Word]:
    if sign not in word.text:
        return [word]
    return [
        Word(word.text.replace(sign, each.text), word.source.replace(sign, each.source), each.globs, each.origins)
        for each in given
    ] or [word]


def _found(name: str, words: Sequence[Word]) -> Iterator[InnerCommand]:
    """What `find` runs for each file: the sign for a file stands for anything below where it starts."""
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
    """Lines that git runs for somebody: `submodule foreach`, `bisect run`, `rebase --exec`, filters, `!` aliases."""
    texts = [word.text for word in words]
    for place, text in enumerate(texts[:-1]):
        following = words[place + 1]
        if text == "foreach" and "submodule" in texts[:place]:
            rest = [word for word in words[place + 1 :] if not word.text.startswith("--")]
            yield InnerCommand("git submodule foreach", line=_joined(rest), keep=True)
        elif text == "run" and "bisect" in texts[:place]:
            yield InnerCommand("git bisect run", tuple(words[place + 1 :]), keep=True)
        elif text == "-c" and following.text.startswith("alias.") and "=!" in following.text:
            yield InnerCommand("git alias", line=Word(following.text.partition("=!")[2], following.source), keep=True)
        elif any(text in options and verb in texts[:place] for verb, options in GIT_LINES.items()):
            yield InnerCommand(f"git {text}", line=following, keep=True)
