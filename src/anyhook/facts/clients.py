"""Files in the languages of database clients and editors: `sqlite3 X '.output FILE'`, `psql -c '\\o FILE'`,
`emacs --eval '(delete-file "FILE")'`; and whether a client of a database in a file only looks at it."""

from __future__ import annotations

import re

from anyhook.facts.by_table import by_table
from anyhook.facts.effects import EFFECTS, Effect
from anyhook.facts.options import sort_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.facts.collect import Collector
    from anyhook.shell.program import Program

NAMED = r"""(?:"([^"\n]+)"|'([^'\n]+)'|([^\s'";|][^\s;]*))"""
ELISP = r'"((?:[^"\\]|\\.)+)"'
FILES: dict[tuple[str, ...], tuple[tuple[str, re.Pattern[str]], ...]] = {
    ("sqlite3", "sqlite", "duckdb"): (
        ("write", re.compile(
            r"^\s*\.(?:output|once|log|backup|save|excel|trace|clone)(?:\s+-\w+)*(?:\s+(?:main|temp)(?=\s))?"
            rf"\s+(?!(?:stdout|stderr|off)\b){NAMED}|\b(?:vacuum(?:\s+\w+)?\s+into|copy\b[^;]*?\bto)\s*'([^']+)'"
            r"|\bwritefile\s*\(\s*'([^']+)'", re.I | re.M)),
        ("read", re.compile(rf"^\s*\.(?:read|restore|import)(?:\s+-\w+)*\s+{NAMED}|\breadfile\s*\(\s*'([^']+)'",
            re.I | re.M)),
    ),
    ("psql", "pgcli", "cockroach"): (
        ("write", re.compile(
            rf"\\(?:o|out|g|gx|w|write)\s+{NAMED}|\\copy\b[^\n]*?\bto\s+(?!stdout|program){NAMED}", re.I)),
        ("read", re.compile(rf"\\(?:i|include|ir)\s+{NAMED}|\\copy\b[^\n]*?\bfrom\s+(?!stdin|program){NAMED}", re.I)),
    ),
    ("mysql", "mariadb", "mycli"): (
        ("write", re.compile(rf"(?:\\T|^\s*tee)\s+{NAMED}|\binto\s+(?:out|dump)file\s+'([^']+)'", re.I | re.M)),
        ("read", re.compile(rf"(?:\\\.|^\s*source)\s+{NAMED}", re.I | re.M)),
    ),
    ("emacs", "emacsclient"): (
        ("delete", re.compile(rf"\((?:delete-file|delete-directory|rename-file)\s+{ELISP}")),
        ("write", re.compile(
            rf"\((?:write-file|set-visited-file-name|make-symbolic-link\s+{ELISP}|copy-file\s+{ELISP}|rename-file\s+{ELISP}"
            rf"|(?:write-region|append-to-file)\s+(?:{ELISP}|\S+)\s+\S+)\s+{ELISP}")),
    ),
}  # fmt: skip
"""By program: where its own language names a file, and what happens to it."""
BY_NAME = {name: patterns for names, patterns in FILES.items() for name in names}


def look_at_files(program: Program, into: Collector) -> None:
    """Adds the files that a program is told about in its own language."""
    patterns = BY_NAME.get(program.name)
    if patterns is None or program.remote:
        return
    for text in (*program.args, program.stdin or ""):
        for action, pattern in patterns:
            for found in pattern.finditer(text.removeprefix("--eval=")):
                named = [group for group in found.groups() if group]
                into.note(action, named[-1], program.cwd)


LOOKING = re.compile(
    r"(?:select\b|explain\b|values\b|pragma\s+\w+(?:\s*\(\s*'?\w+'?\s*\))?$|with\b(?!.*\b(?:insert|update|delete)\b)"
    r"|\.(?:tables|schema|fullschema|index(?:es)?|indices|databases|dump|mode|headers?|width|stats|show|help|print|separator"
    r"|nullvalue|timer|quit|exit|output|once)\b|--|$)",
    re.I | re.S,
)
"""How a statement begins that changes nothing in the database itself."""


def look_at_database(program: Program, into: Collector) -> None:
    """A client with a database in a file: it writes there, unless all that it is told only looks."""
    effect = EFFECTS["sqlite3"]
    told = sort_options(program.words, effect.values).rest[1:]
    texts = [*(word.text for word in told), *([] if program.stdin is None else [program.stdin])]
    is_told = bool(texts) and all(word.known for word in told) and not {"-init", "-cmd"} & {*program.args}
    looks = is_told and all(LOOKING.match(each.strip()) for text in texts for each in _statements(text))
    by_table(program, LOOKS if looks or "-readonly" in program.args else effect, into)


LOOKS = Effect(EFFECTS["sqlite3"].values, reads="first")


def _statements(text: str) -> list[str]:
    lines = text.strip().split("\n")
    commands = [line for line in lines if line.lstrip().startswith(".")]
    return [*commands, *"\n".join(line for line in lines if line not in commands).split(";")]
