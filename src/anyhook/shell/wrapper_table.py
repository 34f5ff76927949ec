"""Tables of programs that run other programs: how each names what it runs, and which settings contain a shell line."""

from __future__ import annotations

from anyhook.model.record import Record


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
    "stdbuf": Wrapper("ioe input output error"), "time": Wrapper("of output format"), "exec": Wrapper("a"),
    "nohup": PLAIN, "setsid": PLAIN, "builtin": PLAIN, "command": PLAIN, "busybox": PLAIN, "toybox": PLAIN,
    "unbuffer": PLAIN, "coproc": PLAIN, "noglob": PLAIN, "nocorrect": PLAIN, "-": PLAIN, "caffeinate": Wrapper("tw"),
    "watch": Wrapper("nq interval equexit", joined=True), "strace": Wrapper("aeopsuEIOPSUX", keep=True),
    "ltrace": Wrapper("aelnopsuAD", keep=True),
    "perf": Wrapper("oepF output", keep=True, verbs=("stat", "record")), "chroot": Wrapper("", skip=1, remote=True),
    "pkexec": Wrapper("u user"),
    "flock": Wrapper("wEc timeout command", skip=1, line=("-c", "--command")), "gosu": Wrapper(skip=1),
    "su-exec": Wrapper(skip=1), "runuser": Wrapper("ucgGs user command group shell", line=("-c", "--command")),
    "su": Wrapper("cgGsw command group shell", line=("-c", "--command"), skip=1, keep=True),
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
    "s6-setuidgid": Wrapper(skip=1), "logsave": Wrapper(skip=1), "dtach": Wrapper("nAce", skip=0),
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
        "SVN_SSH",
    }
)  # fmt: skip
"""Variables whose value others run as a shell line."""
OFTEN_HIDDEN = (
    "rm", "sh", "bash", "cat", "dd", "nc", "cp", "mv", "ln", "tee", "curl", "wget", "chmod", "chown", "kill", "find",
    "perl", "python3", "shred", "base64", "git", "mkfs", "shutdown", "reboot",
)  # fmt: skip
"""Programs whose names people hide behind wildcards."""
