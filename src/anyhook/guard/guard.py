"""Self-protection: refuses tool calls of an agent that would change what anyhook depends on. This is the part that
every call passes: a quick check whether a call could concern such a file or program at all. It reads paths and command
lines and runs nothing, so it is a fence, not a sandbox."""

from __future__ import annotations

import os
import sys

from anyhook.model import lean_json
from anyhook.model.record import Record
from anyhook.platform.kept_code import JUDGE, load
from anyhook.platform.places import INSTALLS, RealPaths, home_of, read_object, state_dir
from anyhook.programs.quick import CODE_READERS, CONTENTS, IMPORTABLE, LOOKERS, REMOVERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Literal

    from anyhook.model.event import Event
    from anyhook.model.json_types import Json
    from anyhook.programs.facts import Program
    from anyhook.tables.host_rows import Host

NAME = "self-protection"
FIX = (
    "A person can do this outside the agent, and approve changed hooks with `anyhook trust`. To turn this guard off,"
    " set `protect = false` in anyhook's settings."
)
READERS = ("read_file", "list_files", "grep", "web_fetch")
"""Our names of tools that only read."""
OWN_NAMES = (
    "anyhook", "trust.json", "switches.json", "journal", "config.toml", "index.json", "hook", "Hook", "site-packages",
    "dist-packages", "pkill", ".envrc", "mise.toml",
)  # fmt: skip
"""Names that may belong to our files, our processes or to places for hooks and variables."""
SPECIAL = (
    "~",
    "$",
    "`",
    "*",
    "?",
    "[",
    "{",
    "..",
    "HOME=",
    "_DIR=",
    "/proc/",
    "-K",
    "ENV=",
)
"""Shell characters with which a line can name other paths than it shows, and variables that move settings."""
RUNS = ("./", ". ", ".sh", ".py", ".js")
"""What shows that a line runs a script, which may do anything."""
LINE_KEYS = ("command", "cmd", "description")
"""Where a tool that takes a command line has texts."""
_QUOTES = str.maketrans("", "", "'\"\\")
_COMMANDS = str.maketrans(dict.fromkeys(";&|(){}", "\n"))
_PARTED = str.maketrans(dict.fromkeys("\n\t;&|()<>=,`{}:/", " "))


def refusal(
    event: Event, env: Mapping[str, str], project: str, places: Iterable[str] = (), host: Host | None = None
) -> str | None:
    """Why a tool call is not allowed; None if it is. `places` are the files that declare hooks, or would, and those
    that approvals pin; the settings of `host` can turn hooks off. Cheap if the call cannot concern any of them."""
    given = event.data.get("input")
    if event.name != "pre_tool" or not isinstance(given, dict) or event.ours in READERS:
        return None
    if ("command" in given or "cmd" in given) and _only_looks(given):
        return None
    entries = [*(read_object(f"{state_dir(env)}/{INSTALLS}") or ())]  # the files of agents that contain our entry
    telling = told_by(env, project, (*places, *entries), host)
    if not (matters := _matters(given, project, telling)):
        return None
    load(JUDGE)
    if matters == "code" and _runs_nothing_of_ours(event, env, project, telling):
        return None
    from anyhook.guard.calls import refused

    return refused(event, env, project, places, entries, host)


def _runs_nothing_of_ours(event: Event, env: Mapping[str, str], project: str, telling: Telling) -> bool:
    """Whether a line that concerns nothing protected by itself runs only files that do not either. Their texts are
    looked at as the line's own, and the facts are those that rules ask for next."""
    from anyhook.rules.calls import read_event

    home = home_of(env)
    for cwd in dict.fromkeys((str(event.data.get("cwd") or "") or project, project)):
        facts, texts = read_event(event, cwd=cwd, home=home, variables=env)
        if facts.unread or any(getattr(facts, name) for name in CHANGING_FACTS):
            return False
        if not all(_is_plain(program, project, telling) for program in facts.runs):
            return False
        if texts and texts_matter(texts, project, telling) == "yes":
            return False
    return True


def _is_plain(program: Program, project: str, telling: Telling) -> bool:
    """Whether a program of such a line runs no code of its own, and names nothing protected from its own folder."""
    if program.code is not None or program.remote or program.cwd is None or "pkg" in program.args:
        return False
    return program.cwd == project or not leads_to({program.path, *program.args}, program.cwd, telling.folders, None)


CHANGING_FACTS = ("writes", "deletes", "changes", "makes_executable", "links", "trees", "cleans")
"""The facts that say what a call changes."""


def _matters(given: dict[str, Json], project: str, telling: Telling) -> Literal["", "yes", "code"]:
    """Whether any text of the input could name us, a protected file, or a folder above one; `code` if that depends on
    what is in the files that it runs."""
    is_line = "command" in given or "cmd" in given
    if not is_line and (filled := {key: value for key, value in given.items() if key in CONTENTS}):
        contents = "\n".join(_plain(lean_json.every_text(filled))).lower()
        if any(name in contents for name in telling.switches):
            return "yes"
        given = {key: value for key, value in given.items() if key not in CONTENTS}
    return texts_matter([*lean_json.every_text(given)], project, telling, is_line=is_line)


def texts_matter(
    given: Sequence[str], project: str, telling: Telling, *, is_line: bool = True
) -> Literal["", "yes", "code"]:
    """The same of these texts; `is_line` if a shell reads them."""
    texts = _plain(given)
    text = "\n".join(texts)
    programs = {word.rstrip("0123456789.") for word in text.translate(_PARTED).split()} if is_line else set()
    # Some disks do not tell upper and lower case apart.
    folded = text.lower()
    if any(name in folded for name in telling.names) or (is_line and any(sign in text for sign in SPECIAL)):
        return "yes"
    real = os.path.realpath(project)
    # Most lines that name the project only go there.
    visited = real if is_line and REMOVERS.isdisjoint(programs) else None
    if leads_to(_words_of(texts), real, telling.folders, visited):
        return "yes"
    runs = is_line and (not CODE_READERS.isdisjoint(programs) or any(sign in text for sign in RUNS))
    return "code" if runs else ""


def _plain(texts: Iterable[str]) -> list[str]:
    return [text.replace("\\\n", "").translate(_QUOTES) for text in texts]


def _words_of(texts: list[str]) -> set[str]:
    parts = {word for each in texts if len(each) < 65_536 for word in each.split() if len(word) < 1_024}
    return {part.strip(";&|<>()") for part in parts} - {""}


def leads_to(words: set[str], project: str, folders: set[str], visited: str | None) -> bool:
    """Whether one of these words, in the project, is another name of a path or one of the folders, except `visited`: a
    link leads elsewhere, and a folder may contain protected files."""
    real_paths = RealPaths()
    names = _names_in(project) if len(words) > MANY_WORDS else None
    for word in words:
        if names is not None and word.isascii() and word[0] not in "./" and "//" not in word and "/." not in word:
            # If nothing in the project has this name, it cannot be a link.
            low = word.lower().rstrip("/")
            if low.partition("/")[0] not in names and f"{project}/{low}/".lower() not in folders:
                continue
        plain = os.path.normpath(os.path.join(project, word))
        if "\0" not in plain and real_paths.of(plain) != plain:
            return True
        if plain != visited and f"{plain.rstrip('/')}/".lower() in folders:
            return True
    return False


def _names_in(folder: str) -> set[str] | None:
    """The names in a folder, in lower case; None if it cannot be listed."""
    try:
        return {*map(str.lower, os.listdir(folder))}
    except OSError:
        return None


MANY_WORDS = 64


class Telling(Record):
    """What shows that a call may concern us or the host's hooks."""

    names: set[str]
    """Parts of texts, in lower case."""
    switches: set[str]
    """Those of texts that go into a file: what is in it matters only if it names us or what turns hooks off."""
    folders: set[str]
    """Every folder above a protected path, in lower case, with a slash at its end."""


class Told:
    """The last answer, and the question: nothing on disk changes it, and the same is asked at every call."""

    last: tuple[tuple[object, ...], Telling] | None = None


def told_by(env: Mapping[str, str], project: str, places: tuple[str, ...], host: Host | None) -> Telling:
    asked = (env.get("HOME") or home_of(env), env.get("PATH", ""), project, places, host)
    last = Told.last
    if last is None or last[0] != asked:
        last = Told.last = asked, _telling(*asked)
    return last[1]


def _telling(home: str, path: str, project: str, places: tuple[str, ...], host: Host | None) -> Telling:
    home, inside = home.rstrip("/") + "/", project.rstrip("/") + "/"
    switches = {OWN_NAMES[0]}
    if host is not None:
        switches.update([*host.off_words, *host.off_variables, *host.moving_variables])
        places = (*places, *host.settings)
    names = {*OWN_NAMES, *switches}
    for place in places:
        start = inside if place.startswith(inside) else home if place.startswith(home) else "/"
        rest = place[len(start) :]
        names.update([tail for tail in rest.rsplit("/", 2) if len(tail) > 2])
        if f"{place}/" == inside or (start == inside and rest.endswith(".py") and "/" not in rest):
            names.update(IMPORTABLE)  # a hook may import from the project's own folder, whatever the module is called
    folders = filter(None, [f"{sys.prefix}/bin", *path.split(":")])  # where our command is, or would be
    held = [*places, __file__, *map("{}/anyhook".format, folders)]
    above = {each[: end + 1] for each in map(str.lower, held) for end, sign in enumerate(each) if sign == "/"}
    return Telling(_shortest(names), _shortest(switches), above)


def _shortest(names: set[str]) -> set[str]:
    """In lower case, without names that contain another one."""
    names = {*map(str.lower, names)}
    return {each for each in names if not any(other in each for other in names - {each})}


def _only_looks(given: dict[str, Json]) -> bool:
    """Whether every command of a line is a program that only reads. Every newline and quote counts as the shell's, so a
    word too many is taken for a program, never one too few."""
    for key, value in given.items():
        if key not in LINE_KEYS and isinstance(value, (str, list, dict)):
            return False
        if key in LINE_KEYS and key != "description":
            if not isinstance(value, str) or any(sign in value for sign in (">", "$", "`", "\\\n")):
                return False
            commands = [command.split() for command in value.translate(_QUOTES).translate(_COMMANDS).splitlines()]
            if any(words and words[0] not in LOOKERS for words in commands):
                return False
    return True
