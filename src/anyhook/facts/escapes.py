"""Shell lines inside the languages of editors, database clients, debuggers and build tools: `vim -c '!LINE'`,
`psql -c '\\! LINE'`, `sqlite3 X '.shell LINE'`, the recipes of a makefile on the input."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.facts.collect import Collector
    from anyhook.shell.program import Program

STRING = r"\s*\(?\s*[\"']((?:[^\"'\\]|\\.)+)[\"']"
EDITOR = re.compile(rf"^\+?:?\s*(?:sil(?:ent)?!?\s+)?(?:r(?:ead)?\s*)?!(.+)|\b(?:system|term(?:inal)?){STRING}", re.M)
BANG = re.compile(r"^\s*!\s*(.+)", re.M)
CALLED = re.compile(rf"\b(?:system2?|popen|shell_exec|shell-command(?:-to-string)?|call-process|unix|dos){STRING}")
TCL = re.compile(r"\b(?:exec|spawn|system)\s+(?:--?\w*\s+)*(.+?)\]?\s*(?:[;}\n]|$)")
ESCAPES: dict[tuple[str, ...], re.Pattern[str]] = {
    ("vim", "vi", "nvim", "ex", "view", "gvim", "vimdiff", "hx"): EDITOR,
    ("psql", "pgcli", "cockroach"): re.compile(r"\\!\s*(.+)|\bprogram\s+'([^']+)'", re.I),
    ("mysql", "mariadb", "mycli"): re.compile(r"(?:\\!|(?:^|;)\s*system)\s+([^;\n]+)", re.M),
    ("sqlite3", "sqlite", "duckdb"): re.compile(r"^\s*\.(?:shell|system)\s+(.+)", re.M),
    ("gdb", "lldb"): re.compile(rf"^\s*(?:shell\s+|!|platform shell\s+)(.+)|\bsystem{STRING}", re.M),
    ("ftp", "sftp", "lftp", "ed", "mail", "mailx", "ipython", "less"): BANG,
    ("tclsh", "expect", "wish"): TCL,
    ("emacs", "R", "Rscript", "octave", "gnuplot", "maxima", "ghci", "irb", "jshell", "matlab", "scilab"): CALLED,
    ("julia",): re.compile(r"\brun\(\s*`([^`]+)`"),
    ("make", "gmake"): re.compile(
        r"^(?:\t|[^\s#:=][^#:=]*::?[^=;]*;)[ \t]*[@+-]*(.+)|\$\(shell\s+(.+?)\)|^SHELL=(.+)", re.M
    ),
}
"""By program: a pattern that finds shell lines in its own language."""
BY_NAME = {name: pattern for names, pattern in ESCAPES.items() for name in names}


def look_at_escapes(program: Program, into: Collector) -> None:
    """Add the facts of shell lines that a program runs from its own language."""
    pattern = BY_NAME.get(program.name)
    if pattern is None:
        return
    for text in (*program.args, program.stdin or ""):
        for found in pattern.findall(text.removeprefix("--eval=")):
            into.line("".join(found), program)
