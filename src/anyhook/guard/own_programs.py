"""Programs that can turn us off: our own verbs that only a person may use, package managers that remove us, and signals
to our processes."""

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase
from itertools import pairwise

from anyhook.model.pattern import later
from anyhook.programs.program import UNKNOWN
from anyhook.programs.table import removes, row_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from anyhook.programs.facts import Program

DECIDING = frozenset({
    "trust", "install", "uninstall", "enable", "disable", "shadow", "enforce", "allow-once", "add", "remove",
    "relax", "setup", "warm", "import", "approvals", "serve", "policy", "new", "ship", "update",
})  # fmt: skip
"""Our verbs that only a person may use,"""
LOOKING = {
    "trust": ("--list",), "install": ("--dry-run",), "uninstall": ("--dry-run",), "setup": ("--dry-run",),
    "warm": ("--json",),
}  # fmt: skip
"""except with these options, which only show something."""
ANSWERING = {"approvals": ("allow", "deny"), "policy": ("pull", "remove"), "new": ("user", "--scope=user")}
"""Of these verbs, only lines with one of these words."""
INSIDE = later(r"\banyhook\.(?:cli|state|entry|walk|install|guard|documents)\b")
"""Parts of our package that a project's programs never need."""


def decides(program: Program, launchers: Collection[str] = ()) -> str | None:
    """Why a program may not be run by an agent; None if it may. `launchers` are the files of our command."""
    name, texts, row = program.name, [word.text for word in program.words], row_of(program.name)
    if row.language == "python":  # what it runs with `-m` is a separate program
        return _by_python(program.code or "", texts)
    if name.startswith("anyhook.") and any(row_of(each.partition(" ")[0]).language == "python" for each in program.via):
        is_command = name in ("anyhook.__main__", "anyhook.entry")
        return _verb(texts) if is_command else f"`{name}` is a part of anyhook that only anyhook itself runs."
    if _is_ours(program, launchers):
        return _verb(texts)
    if row.has("kills") and _names_us(program):
        return f"`{name}` would end processes of anyhook."
    if row.has("schedules") and _names_us(program):
        return f"`{name}` would run anyhook later, when nobody asks."
    return _by_packager(name, texts) if row.has("packages") and any(map(_is_us, texts)) else None


def _by_packager(name: str, texts: Sequence[str]) -> str | None:
    """A package manager that is told about our package."""
    if any(text in REMOVED_BY or removes(text) for text in texts):
        return f"`{name}` would uninstall anyhook."
    is_forced = any(text in FORCED or text.endswith(ARCHIVES) or re.search(r"==|<| @ ", text) for text in texts)
    if (is_forced and "install" in texts) or any(text in REPLACING for text in texts):
        return f"`{name}` would replace anyhook."
    return None


REMOVED_BY = ("-R", "-Rs")
"""Options with which a package manager removes."""
ARCHIVES = (".whl", ".tar.gz", ".zip")
"""Files that a package is installed from."""
REPLACING = ("upgrade", "reinstall")
FORCED = ("--force-reinstall", "-U", "--upgrade", "--ignore-installed", "-I", "--reinstall", "--force")


def _names_us(program: Program) -> bool:
    """Whether a program names us, or gets its arguments from one that does: `kill $(pgrep anyhook)`."""
    fed = (*program.stdin_from, *(origin for word in program.words for origin in word.origins))
    words = [word.source for each in (program, *fed) for word in each.words]
    is_pattern = row_of(program.name).has("kills")
    return any("anyhook" in word or (is_pattern and _matches_us(word)) for word in words)


def _matches_us(pattern: str) -> bool:
    """Whether a pattern of `pkill` or `pgrep` finds our processes by more than a letter or two."""
    try:
        found = re.search(pattern, "anyhook bridge")
    except re.error:
        return False
    return found is not None and len(found[0]) > 2


def _is_us(text: str) -> bool:
    if text.endswith(ARCHIVES):
        return re.search(r"(?:^|/)anyhook-[^/]+$", text) is not None
    return re.fullmatch(r"(?:python3?-)?anyhook(?:\[[^\]]*\])?(?:\s*[=<>~!@].*)?", text) is not None


def _is_ours(program: Program, launchers: Collection[str]) -> bool:
    """Whether a program is our command: by its name, by a pattern that matches it, by a link to it, or by a name that
    only running the line would show, but that mentions it."""
    name = program.name or os.path.basename(program.path)
    if name in OURS or (any(sign in name for sign in "*?[") and any(fnmatchcase(each, name) for each in OURS)):
        return name.strip("*") != "" or _mentions_us(program)
    if "/" in program.path and os.path.realpath(os.path.join(program.cwd or "/", program.path)) in launchers:
        return True
    return not program.name and "anyhook" in program.path


def _mentions_us(program: Program) -> bool:
    return "anyhook" in " ".join((program.path, *program.via, *program.args)) or bool(
        program.words and program.words[0].text in DECIDING
    )


OURS = (*row_of("anyhook").names.split(),)
FLAGS = ("--json", "--yes", "--debug", "--list", "--revoke", "--dry-run", "--stop", "--here", "-h", "--help")
"""Our options without a value: what follows any other one may be its value."""


def _verb(texts: Sequence[str]) -> str | None:
    verb = next((text for text in texts if not text.startswith("-")), "")
    if UNKNOWN in verb:
        return "`anyhook` would run with a verb that only the shell knows."
    named = texts[: texts.index("--")] if "--" in texts else texts
    options = {
        text
        for before, text in pairwise(("", *named))
        if not before.startswith("-") or "=" in before or before in FLAGS
    }
    if verb not in DECIDING or options & {"--help", "-h"} or _only_looks(verb, texts, options):
        return None
    return f"`anyhook {verb}` is for people."


def _only_looks(verb: str, texts: Sequence[str], options: Collection[str]) -> bool:
    if verb in ANSWERING:
        return not any(text in ANSWERING[verb] or UNKNOWN in text for text in texts)
    looks = any(option in options for option in LOOKING.get(verb, ()))
    return looks and not any(text in ("--yes", "--revoke", "--stop") for text in texts)


def _by_python(code: str, texts: Sequence[str] = ()) -> str | None:
    """Python code that imports our package directly."""
    if "anyhook" not in code:
        return None
    if INSIDE.search(code) and "import" in code:
        return "The Python program uses parts of anyhook that only anyhook itself uses."
    if re.search(r"runpy|__main__|sys\.argv|__import__|import_module", code) and any(
        re.search(rf"['\"]{verb}['\"]", code) or verb in texts for verb in DECIDING
    ):
        return "The Python program runs a verb of anyhook that is for people."
    return None
