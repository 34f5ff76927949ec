"""Checks one call against the protected paths, by its facts, program by program, so that a refusal can name the
program."""

from __future__ import annotations

import os
import re
from itertools import pairwise

from anyhook.guard.own_programs import DECIDING, OURS, decides
from anyhook.guard.protected import Protected, hit, protected
from anyhook.model import lean_json
from anyhook.model.pattern import later
from anyhook.platform.places import home_of
from anyhook.programs.collect import NO_FOLDER, Collector
from anyhook.programs.paths import resolve
from anyhook.programs.program import Program, Word
from anyhook.programs.scripts import scripts_of
from anyhook.programs.table import removes, row_of
from anyhook.programs.trees import holds
from anyhook.rules.calls import facts_of_event
from anyhook.tables.registry import HOSTS
from anyhook.tables.registry import host as host_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from anyhook.model.event import Event
    from anyhook.model.json_types import Json
    from anyhook.programs.facts import Facts, Program
    from anyhook.programs.rows import ProgramRow
    from anyhook.tables.host_rows import Host


def refused(
    event: Event,
    env: Mapping[str, str],
    project: str,
    places: Iterable[str],
    entries: Iterable[str],
    host: Host | None = None,
) -> str | None:
    """Why a call may not be made; None if it may."""
    held = protected(env, project, places, entries, host)
    given = event.data.get("input")
    given = given if isinstance(given, dict) else {}
    if event.inputs:
        from anyhook.tables.translate import restored

        given = restored(given, event.inputs)
    tool = event.ours or str(event.data.get("tool") or "")
    home = home_of(env)
    variables = {name: value for name, value in env.items() if name.isidentifier() and value.startswith("/")}
    folder = str(event.data.get("cwd") or "") or project
    # The agent's shell may not be in the folder that its payload names, so paths are also checked without one.
    for cwd in dict.fromkeys((folder, project, None)):
        is_asked_again = cwd == project  # by the rules, which look into files too
        facts = facts_of_event(
            event, cwd=cwd, home=home, variables=variables, reads_files=is_asked_again, keep=is_asked_again
        )
        why = _of_programs(facts, held, home, host) if facts.runs else _of_tool(tool, given, facts, held, host)
        why = why or _of_variables(tool, given, facts, host) or _of_start_files(tool, given, facts)
        if why:
            return why
    return None


def _of_variables(tool: str, given: dict[str, Json], facts: Facts, host: Host | None) -> str | None:
    """A file of variables that would turn the agent's hooks off the next time."""
    if host is None:
        return None
    variables, files = host.variables, [os.path.basename(path) for path in host.variable_files]
    for path in facts.writes:
        if os.path.basename(path) not in files or path.endswith(".json"):
            continue
        from anyhook.guard.settings_change import new_variables

        line = "\n".join(lean_json.every_text(given)) if facts.runs else ""
        found = [name for name in variables if name in line] if line else new_variables(path, given, host)
        if found:
            return f"`{tool}` would set {found[0]} in {path}, with which {host.title} does not run these hooks."
    return None


START_FILES = later(
    r"/(?:\.(?:bashrc|bash_profile|bash_login|bash_aliases|bash_logout|profile|zshrc|zprofile|zshenv|zlogin|xprofile"
    r"|kshrc|tcshrc|cshrc|login|envrc|mise\.toml)|mise\.toml|config\.fish|\.git/hooks/[\w-]+"
    r"|(?:cron\.\w+|autostart|systemd/user|LaunchAgents)/.+)"
)
"""Files whose lines run later, in a terminal of a person or without anybody."""


def _of_start_files(tool: str, given: dict[str, Json], facts: Facts) -> str | None:
    """A line that is left for later: with our command, when no agent is above it any more, or with a variable that
    moves an agent's settings."""
    for path in facts.writes:
        if not START_FILES.search(path):
            continue
        text = "\n".join(lean_json.every_text(given))
        for table in map(host_of, HOSTS):
            if name := next((name for name in (*table.variables, *roots_of(table)) if name in text), ""):
                return f"`{tool}` would set {name} in {path}, with which {table.title} does not run these hooks."
        if verb := next((verb for verb in DECIDING if re.search(rf"\banyhook\S*\s[^\n;|&]*\b{verb}\b", text)), ""):
            return f"`{tool}` would leave `anyhook {verb}` in {path}, to run later; it is for people."
    return None


def _of_tool(tool: str, given: dict[str, Json], facts: Facts, held: Protected, host: Host | None = None) -> str | None:
    """A file tool."""
    variables = host.variables if host is not None else ()
    for path in facts.deletes:
        if found := hit(path, held, deletes=True):
            return f"`{tool}` would delete {path}, {_what(found, held)}."
    for path in facts.writes:
        found = hit(path, held)
        if not found:
            continue
        from anyhook.guard.settings_change import breaks, breaks_keys

        keys = held.partly.get(found, ())
        if keys and breaks_keys(found, given, keys):
            return f"`{tool}` would change {', '.join(keys)} in {path}, {_what(found, held)}."
        if not keys and (found not in held.settings or breaks(found, given, variables)):
            return f"`{tool}` would change {path}, {_what(found, held)}."
    return None


def _what(path: str, held: Protected) -> str:
    if path in held.own or any(path.startswith(f"{own}/") for own in held.own):
        return "which is anyhook's own"
    if path in held.package:
        return "which anyhook runs from"
    if path in held.settings:
        return "where this agent's hooks, or anyhook's entry, are kept"
    return "which hooks depend on"


def _of_programs(facts: Facts, held: Protected, home: str, host: Host | None) -> str | None:
    """The programs of a line, one by one, and what the line itself writes."""
    seen: set[str] = set()
    made = (*facts.writes, *(folder for folder, _ in facts.trees))
    for program in _with_scripts(facts.runs, home, held.launchers):
        if why := decides(program, held.launchers) or turns_off(program, host) or _mounted(program, held, home):
            return why
        if why := _set_keys(program, held):
            return why
        found = Collector(home)
        found.program(program.replace(remote=False))
        own = found.facts()
        if program.remote:
            if why := _elsewhere(program, own, held):
                return why
            continue
        seen.update(own.writes)
        if why := _changed(program, own, held, made) or _handed(program, own, held, home):
            return why
    for path in facts.writes:
        if path not in seen and (found_path := hit(path, held)):
            return f"The line would write to {path}, {_what(found_path, held)}."
    return None


def _set_keys(program: Program, held: Protected) -> str | None:
    """`npm pkg set scripts.test=…`, where an approval pins that key."""
    texts = [word.text for word in program.words]
    if not row_of(program.name).has("scripts") or texts[:1] != ["pkg"] or texts[1:2] not in (["set"], ["delete"]):
        return None
    named = [text.partition("=")[0] for text in texts[2:]]
    for path, keys in held.partly.items():
        if found := next((key for key in keys if any(key == name or key.startswith(f"{name}.") for name in named)), ""):
            return f"`{program.name}` would change {found} in {path}, {_what(path, held)}."
    return None


def _with_scripts(programs: Iterable[Program], home: str, launchers: Collection[str]) -> Iterator[Program]:
    """The programs of a line, and those of the scripts that they run."""
    left = [(program, 0) for program in reversed([*programs])]
    for _ in range(MAX_PROGRAMS):
        if not left:
            return
        program, depth = left.pop()
        yield program
        if depth < MAX_DEPTH:
            left.extend((each, depth + 1) for each in reversed([*run_by(program, home, launchers)]))


MAX_PROGRAMS, MAX_DEPTH = 500, 4
"""How many programs of scripts are looked at, and how deep scripts in scripts are read."""


def _elsewhere(program: Program, own: Facts, held: Protected) -> str | None:
    """A program in a container or on another machine, which may be this one with the project mounted anywhere. So its
    paths are compared from their end."""
    for path in (*own.deletes, *own.writes, *own.changes):
        if found := hit(f"$THERE{path}", held):
            return f"`{program.name}` would change {path} through `{program.via[0]}`, and {found} {SAME_NAME}."
    return None


SAME_NAME = "is what hooks depend on"
MOUNT = later(r"(?:--volume=|-v=?)?(?P<path>[^:=,]+):[^:]+(?::(?P<how>[\w,]+))?")
BIND = later(r"(?:--mount=)?(?=.*\b(?:source|src)=(?P<path>[^,]+))(?P<how>.*)")


def _mounted(program: Program, held: Protected, home: str) -> str | None:
    """A container with write access to a protected path or its folder. Most containers get the project or the home;
    changes inside are checked by name."""
    if not row_of(program.name).has("containers"):
        return None
    for named in _writable_mounts(program):
        path = resolve(named, program.cwd)
        is_common = path == home or f"{held.above}/".startswith(f"{path.rstrip('/')}/")
        inside = () if is_common else (each for each in held.all() if os.path.dirname(each) == path)
        if own := hit(path, held) or next(iter(inside), ""):
            return f"`{program.name}` would let a container write to {path}, {_what(own, held)}. Add `:ro`."
    return None


def _writable_mounts(program: Program) -> Iterator[str]:
    """The paths that a container gets and may change."""
    for before, word in pairwise((Word("", ""), *program.words)):
        is_mount = word.text.startswith(("-v", "--volume=")) or before.text in ("-v", "--volume")
        is_bind = word.text.startswith("--mount=") or before.text == "--mount"
        found = MOUNT.fullmatch(word.text) if is_mount else BIND.fullmatch(word.text) if is_bind else None
        if found is not None and {"ro", "readonly"}.isdisjoint(re.split(r"\W+", found["how"] or "")):
            yield found["path"]


def _changed(program: Program, own: Facts, held: Protected, made: Sequence[str]) -> str | None:
    """What the table of effects says that a program changes. `made` are the paths that its line writes."""
    name = program.name or program.path
    by_git = row_of(name).has("history") and not any(_is_named(word, program, held) for word in program.words)
    if gone := _deleted(own, held, by_git=by_git):
        return f"`{name}` would delete {gone[0]}, {_what(gone[1], held)}."
    if why := _permitted(program, own, held):
        return why
    for path in own.writes:
        is_tree = row_of(name).has("history") and not by_git
        if path.endswith("/**") and own.trees:
            continue  # what such a program unpacks is checked below
        if found := hit(path, held, deletes=is_tree):
            return f"`{name}` would write to {path}, {_what(found, held)}."
    return _renamed(name, own, held) or _copied(name, own, held, made)


def _permitted(program: Program, own: Facts, held: Protected) -> str | None:
    """A path whose mode or owner changes."""
    is_recursive = "-R" in program.args or "--recursive" in program.args
    for path in own.changes:
        # A folder that cannot be entered any more, or that is mounted over, hides its contents.
        is_inside = not f"{held.above}/".startswith(f"{path.rstrip('/')}/")
        found = "" if path in own.makes_executable else hit(path, held, deletes=is_recursive or is_inside)
        if found:
            return f"`{program.name or program.path}` would change {path}, {_what(found, held)}."
    return None


def _deleted(own: Facts, held: Protected, *, by_git: bool) -> tuple[str, str] | None:
    """A path that is deleted, and what is protected in it. In a folder that git cleans, it spares a project's files,
    but not ours."""
    for path in (*own.deletes, *own.cleans):
        found = hit(path, held, deletes=not by_git)
        inside = hit(path, held, deletes=True) if path in own.cleans else ""
        if found or inside in held.own or inside in held.package:
            return path, found or inside
    return None


def _renamed(name: str, own: Facts, held: Protected) -> str | None:
    """A second name for a protected path, by which it could be changed later, or for our command."""
    for path in own.links:
        if found := hit(path, held) or _holds(path, held):
            return f"`{name}` would give {path} a second name, {_what(found, held)}."
    if row_of(name).has("copies"):
        for path in own.reads:
            if path in held.launchers:
                return f"`{name}` would give {path}, which is anyhook's command, another name."
    return None


def _copied(name: str, own: Facts, held: Protected, made: Sequence[str]) -> str | None:
    """A tree that is copied or unpacked over a folder with a protected path."""
    for folder, source in own.trees:
        is_made = any(f"{path}/".startswith(f"{source}/") for path in made)  # so what it has is not known yet
        if found := _copied_over(folder, "" if is_made else source, held):
            return f"`{name}` would copy a tree over {folder}, which has {found}, {_what(found, held)}."
    return None


def _is_named(word: Word, program: Program, held: Protected) -> bool:
    """Whether git gets a protected path itself, or a folder in the project that contains one."""
    path = resolve(word, program.cwd) if word.known and not word.text.startswith("-") else ""
    if not path or f"{held.above}/".startswith(f"{path.rstrip('/')}/"):
        return False
    return bool(hit(path, held, deletes=True))


def _copied_over(folder: str, source: str, held: Protected) -> str:
    """The protected path in a folder over which a whole tree is copied or unpacked. If it is not known what the tree
    has, it may have any name; only in the project itself we then assume that it does not."""
    folder = folder.removesuffix("/**").rstrip("/") or "/"
    if found := hit(folder, held):
        return found if found not in held.settings else ""
    place = held.same.other_name(folder) if held.same is not None else ""
    for own in held.all():
        base = next((each for each in (folder, place) if each and own.startswith(f"{each.rstrip('/')}/")), "")
        if base and os.path.lexists(own) and _may_have(source, own, base, held):
            return own
    return ""


def _may_have(source: str, own: str, base: str, held: Protected) -> bool:
    """Whether a tree has what is protected at this place of the folder it is copied over."""
    has = holds(source, own[len(base.rstrip("/")) + 1 :]) if source else None
    is_own_tree = f"{held.above}/".startswith(f"{base.rstrip('/')}/") and own.startswith(f"{held.above}/")
    return bool(has) or (has is None and not is_own_tree and os.path.dirname(own) not in TEMPORARY_FOLDERS)


TEMPORARY_FOLDERS = ("/tmp", "/private/tmp", "/var/tmp")  # noqa: S108 (they are only named)
"""Folders in which everybody unpacks things, and in which our sockets may be."""


def _holds(folder: str, held: Protected) -> str:
    if f"{held.above}/".startswith(f"{folder}/"):
        return ""
    return next((own for own in held.all() if own.startswith(f"{folder}/") and os.path.lexists(own)), "")


def _handed(program: Program, own: Facts, held: Protected, home: str) -> str | None:
    """A program that may do anything with a protected path among its arguments."""
    name, words, row = program.name, program.words, row_of(program.name)
    if row.language and not row.reads:  # the table knows the arguments of `source`
        return _interpreted(program, own, held, home)
    if why := _output(program, row, held):
        return why
    if not name or row.has("spares"):
        return None
    if gone := _removed(program, row, held):
        return f"`{name}` would delete {gone}, which hooks depend on."
    if row.files_known:
        return None
    for word in words:
        text = word.text.partition("=")[2] if word.text.startswith("-") and "=" in word.text else word.text
        if found := _named(text, word, program, held):
            return f"`{name}` is given {text}, {_what(found, held)}, and may change it."
    return None


def _removed(program: Program, row: ProgramRow, held: Protected) -> str:
    """What a sub-command removes, as in `gio trash FOLDER`."""
    if row.has("history") or not any(removes(word.text) for word in program.words[:2]):
        return ""
    return next((word.text for word in program.words if _is_named(word, program, held)), "")


def _output(program: Program, row: ProgramRow, held: Protected) -> str | None:
    """An option whose name suggests that it names a file to write."""
    for before, word in pairwise((Word("", ""), *program.words)):
        option, sign, text = word.text.partition("=")
        if not sign and not row.files_known:  # the table knows which of their options take a value
            option, text = before.text, word.text
        if OUTPUT.fullmatch(option) and (found := _named(text, word, program, held)):
            return f"`{program.name}` would write to {text}, {_what(found, held)}."
    return None


def _named(text: str, word: Word, program: Program, held: Protected) -> str:
    """The protected path that a word names."""
    if not text or text.startswith("-") or "\n" in text or "://" in text:
        return ""
    if " " in text.strip() and not text.startswith(("/", "~", ".")):
        return ""  # a sentence
    return hit(resolve(Word(text, text, word.globs), program.cwd), held)


def _interpreted(program: Program, own: Facts, held: Protected, home: str) -> str | None:
    """An interpreter that gets a protected path after its script, or whose code computes what it changes."""
    words = list(program.words)
    if program.code is None:
        return _given_behind(words, program, held)
    if row_of(program.name).language == "python" and all(each.startswith(NO_FOLDER) for each in own.unknown):
        return None  # all of it was understood
    if not CHANGING.search(program.code):
        return None
    texts = "\n".join([program.code, *(word.text for word in words)])
    for path in sorted(held.all(), key=lambda each: not each.startswith(f"{held.above}/")):
        if any(spelling in texts for spelling in _spellings(path, held, home)):
            return f"The {program.name} program names {path}, {_what(path, held)}, and may change it."
    return None


def _given_behind(words: Sequence[Word], program: Program, held: Protected) -> str | None:
    """A protected path after an interpreter's script."""
    if words[1:] and words[0].text == "-m" and row_of(words[1].text).has("spares") and len(words) < 4:
        return None
    place = next((at for at, word in enumerate(words) if not word.text.startswith("-")), len(words))
    for word in words[place + 1 :]:
        if found := _named(word.text, word, program, held):
            return f"`{program.name}` is given {word.text}, {_what(found, held)}, and may change it."
    return None


def _spellings(path: str, held: Protected, home: str) -> list[str]:
    """How a program may name a path: absolute, and relative to the home or the project."""
    found = [path]
    for folder in (home, held.above):
        if path.startswith(f"{folder}/") and path.count("/") > folder.count("/") + 1:
            found.append(path[len(folder) + 1 :])
    return found


OUTPUT = later(r"-o|-O|--?(?:out|log|report|save|write|dump|export|junit|xml|html)[\w-]*")
"""Options whose names suggest that a program writes to the path after them."""
CHANGING = later(
    r"write|append|unlink|\brm|remove|rename|replace|truncate|chmod|touch|symlink|copy|move|delete|mkdir|system|exec|spawn"
    r"|subprocess|dump|put_contents|['\"]\s*\+?>|,\s*['\"][wa]"
)
"""Without any of these words and characters, we assume that code only reads."""


# Agents' own switches: what turns their hooks off.


TURNING = frozenset({
    "disable", "--disable", "disable-all", "off", "set", "unset", "remove", "rm", "delete", "uninstall", "reset",
    "false",
})  # fmt: skip
"""Words with which an agent's own command changes its settings about hooks."""
NAMES = ("hook", "hooks")


def turns_off(program: Program, caller: Host | None) -> str | None:
    """Why a program may not be run: it starts an agent without its hooks. None if it may."""
    table = _agent(program.name, caller)
    if table is None:
        return None
    texts = [word.text for word in program.words]
    turns = not TURNING.isdisjoint(texts) and not {*NAMES}.isdisjoint(texts)
    if turns or any(_is_switch(text, table) for text in texts):
        return f"`{program.name}` would turn off hooks of {table.title}."
    if any(text in table.off_words for text in texts) or any(name in table.variables for name, _ in program.set):
        return f"`{program.name}` would run without hooks of {table.title}."
    elsewhere = [name for name, _ in program.set if name in ("HOME", *roots_of(table)) or MOVES_US.fullmatch(name)]
    if elsewhere:
        return f"`{program.name}` would run with another {elsewhere[0]}, in which {table.title} has other hooks."
    return None


MOVES_US = later(r"ANYHOOK_\w+|XDG_(?:CONFIG|STATE|RUNTIME)_\w+|PYTHON(?:PATH|HOME|STARTUP)")
"""Variables with which anyhook below the agent finds other settings, or other code."""


def _agent(program: str, caller: Host | None) -> Host | None:
    if caller is not None and caller.program == program:
        return caller
    return host_of(program) if program in HOSTS else None


def _is_switch(text: str, table: Host) -> bool:
    """Whether a word sets a switch: `key`, `section.key=value`, or settings as JSON. A prompt that mentions it is a
    sentence."""
    if " " in text.strip() and not text.lstrip().startswith(("{", "[")):
        return False
    return any(_spelled(switch.key, text) for switch in table.switches)


def _spelled(key: Sequence[str], text: str) -> bool:
    if len(key) == 1:
        return key[0] in text
    return ".".join(key) in text or all(f'"{part}"' in text for part in key) if key else False


def roots_of(table: Host) -> Iterator[str]:
    """The variables that say where an agent's settings are, besides HOME."""
    yield from (variable for variable, _ in (table.entry.roots.values() if table.entry is not None else ()))


# Scripts that a call runs.


def run_by(program: Program, home: str, launchers: Collection[str]) -> Iterator[Program]:
    """The programs that a script runs which this program runs; nothing if it runs none, or none that can be read.
    `launchers` are the files of our command. One may be a script, and what it does is decided by its verb."""
    if "/" in program.path and resolve(program.path, program.cwd) in launchers:
        return
    if (verb := _after_launcher(program, launchers)) is not None:
        args = tuple(word.text for word in verb)
        yield Program(OURS[0], args, verb, OURS[0], (*program.via, program.name), cwd=program.cwd)
        return
    for script in scripts_of(program):
        into = Collector(home)
        into.script(script, program)
        yield from into.runs


def _after_launcher(program: Program, launchers: Collection[str]) -> tuple[Word, ...] | None:
    """The words after our command, if an interpreter runs it as a script."""
    if program.code is not None or program.remote or row_of(program.name).language in ("", "othersh"):
        return None
    place = next((at for at, word in enumerate(program.words) if not word.text.startswith("-")), None)
    if place is None or resolve(program.words[place], program.cwd) not in launchers:
        return None
    return program.words[place + 1 :]
