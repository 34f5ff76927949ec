"""The check-up: reads and inspects every hook file of a project and a user, or the given files. It starts, imports and
asks nothing. Trust does not matter: an error in a file is an error before the file is approved."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from anyhook.agents._hook_places import HOOK_PLACES, HookPlace
from anyhook.documents.files import Files
from anyhook.documents.read import MAX_BYTES, Unreadable, read_bytes
from anyhook.engine.catalog import (
    Loaded,
    approval_of,
    build,
    discover,
    joined,
    load,
    of_policy,
    with_types,
    within_budget,
)
from anyhook.engine.hook_names import hooks_meant, likely
from anyhook.engine.match import Catalog
from anyhook.engine.rule_calls import condition_of
from anyhook.gates.can_match import misspelt, not_in_its_own
from anyhook.gates.diagnosis import NOT_INSTALLED, diagnose
from anyhook.gates.inspect import duplicates, inspect, misplaced
from anyhook.gates.status import split_place
from anyhook.model.codes import CORRECTED
from anyhook.model.hook import ARMED, Hook, Source
from anyhook.model.json_types import Json
from anyhook.model.problem import ERROR, WARNING, Problem
from anyhook.model.record import Record
from anyhook.platform.places import config_file, head, home_of, state_dir
from anyhook.rules.marks import SPENT, nodes_of
from anyhook.rules.wildcards import any_like
from anyhook.state.hook_types import HookTypes
from anyhook.state.plans import Setup
from anyhook.state.settings import Settings
from anyhook.tables.host_rows import Host
from anyhook.tables.isolation import Isolated
from anyhook.tables.registry import DIALECTS, INSTALLABLE, dialect, host, past
from anyhook.tables.rows import Roots

ANCESTORS = 6
"""How many folders above a file are tried as its project."""

LOOSE_FILES, NAMES_BELOW = 5_000, 50
"""How many names are looked at in a folder that is not a project, and in each folder below it."""

SYNTAX_BY_ENDING = {".json": "json", ".toml": "toml", ".yaml": "yaml", ".yml": "yaml"}


class UnknownFile(ValueError):  # noqa: N818 (it says what is wrong)
    """A path that is not a hook file, or whose dialect is unknown; the sentence says what it could be."""


class Findings(Record):
    """The files that were checked, and what is wrong with them."""

    files: tuple[str, ...]
    problems: tuple[Problem, ...]


def checkup(setup: Setup, paths: Sequence[str] = ()) -> Findings:
    """Check everything, or only these files and folders."""
    all_of_it = _project(setup)
    return _ordered([_one(setup, all_of_it, os.path.abspath(path)) for path in paths] if paths else [all_of_it])


def _project(setup: Setup) -> Findings:
    return within_budget(setup, lambda loaded: _look(setup, loaded, with_places=loaded.too_large is None))


def _look(setup: Setup, loaded: Loaded, with_places: bool) -> Findings:
    files, types = loaded.files, HookTypes(state_dir(setup.env))
    hooks: list[Hook] = []
    for name, layers in loaded.layers.items():
        with Isolated(files, setup.project, f"the hooks of the dialect {name} could not be checked", name):
            table = dialect(name)
            found = joined(table, layers, loaded.roots_of(name), files)
            found += [hook for policy in loaded.policies for hook in of_policy(table, policy, loaded)]
            hooks.extend(with_types(table, found, types, setup, loaded, may_start=False))
    hooks = Catalog(hooks, [], loaded.config, {}).with_lines().hooks
    problems: list[Problem] = []
    for hook in hooks:
        if hook.status == ARMED:
            with Isolated(files, hook.source, f"hook `{hook.name}` could not be checked", hook.dialect, hook.scope):
                problems.extend([*inspect(hook, setup), *suspicious(hook, setup), *_other_tools(hook)])
                problems.extend(_untold(hook, setup))
    problems.extend(duplicates([hook for hook in hooks if not hook.policy]))
    if setup.trust != "all":
        problems.extend(_waiting(setup))
    if setup.dialects == DIALECTS:
        problems.extend(_named_for_nothing(setup, loaded.config, hooks))
        with Isolated(files, setup.project, "hook files of other agents could not be looked for"):
            problems.extend(unread_files(setup))
    seen = _hook_files(loaded)
    if with_places:
        for name in loaded.layers:
            with Isolated(files, setup.project, f"misplaced files of {name} could not be looked for", name):
                problems.extend(misplaced(dialect(name), loaded.roots, seen))
    return Findings(tuple(seen), (*files.problems, *problems))


def _named_for_nothing(setup: Setup, config: Settings, hooks: Sequence[Hook]) -> Iterator[Problem]:
    """Settings for a hook of the user that is not there. A hook of a project may be in another one."""
    ids, path = {hook.id for hook in hooks}, config_file(setup.env)
    for name in dict.fromkeys((*config.hooks, *config.hook_off, *config.hook_mode, *config.hook_warm)):
        if name in ids or name.startswith("/") or name.split(":")[1:2] not in ([], ["user"]):
            continue
        meant = hooks_meant(name, hooks)
        hint = f" Did you mean `{meant[0].id}`?" if meant else likely(name, hooks)
        what = f'`[hooks."{name}"]` is for no hook; it is ignored'
        yield Problem("bad-setting", what, path, "", f"`anyhook list` shows the ids.{hint}", WARNING)


def _waiting(setup: Setup) -> Iterator[Problem]:
    """The hooks of a project that would not run under the caller's trust setting."""
    for hook in build(setup, may_start=False).with_lines().hooks:
        if not hook.trusted:
            what, fix = f"hook `{hook.name}` does not run", f"Look at it and approve it: {approval_of(hook)}"
            yield Problem("waiting-for-trust", what, hook.where(), hook.why, fix, WARNING)


def _other_tools(hook: Hook) -> list[Problem]:
    """A matcher that names other agents' tools, or one that is probably misspelt."""
    if why := not_in_its_own(hook):
        what = f"the matcher {hook.matcher!r} matches no tool of the agent that the hook is written for"
        return [Problem("matcher-elsewhere", what, hook.where(), why, "Write that name.", WARNING)]
    if why := misspelt(hook):
        what = f"the matcher {hook.matcher!r} may be misspelt"
        return [Problem("matcher-misspelt", what, hook.where(), why, severity=WARNING)]
    return []


def _untold(hook: Hook, setup: Setup) -> Iterator[Problem]:
    """What a rule counts and agents with our entry do not tell: there it is never true."""
    nodes = list(nodes_of(condition_of(hook)[0])) if hook.listens and hook.condition is not None else []
    wanted = {node[2] for node in nodes if node[0] == "over" and node[2] in SPENT}
    if not wanted:
        return
    only = next((node[1] for node in nodes if node[0] == "agent"), ("*",))
    for table in map(host, INSTALLABLE):
        seen = diagnose(table, home_of(setup.env), setup.project, setup.env)
        counted = sorted(wanted - told_by(table))
        if any_like(only, table.name) and seen.status != NOT_INSTALLED and counted:
            what = f"rule `{hook.name}` counts {' and '.join(counted)}, which {table.title} does not tell"
            fix = "Count calls or minutes there, or name the agents that the rule is for: `agents`."
            yield Problem("untold-number", what, hook.where(), "in this agent that part is never true", fix, WARNING)


def told_by(table: Host) -> set[str]:
    """What an agent's transcripts tell of what its sessions use."""
    reader = past(table.name)
    return {*reader.tells} if reader is not None else set()


def _hook_files(loaded: Loaded) -> list[str]:
    """The files that declare hooks, or should, in the order in which they were read."""
    texts, found = loaded.files.texts(), list[str]()
    for layers in loaded.layers.values():
        for each in layers:
            place = each.source.path
            found.extend(path for path in texts if path == place or path.startswith(f"{place}/"))
            found.extend(hook.source for hook in each.hooks)
    return list(dict.fromkeys(found))


def _ordered(parts: Sequence[Findings]) -> Findings:
    """All findings, by file and line, each once. Values that are corrected when hooks run are errors here."""
    files = dict.fromkeys(path for part in parts for path in part.files)
    problems: dict[tuple[str, str, str], Problem] = {}
    for part in parts:
        for problem in part.problems:
            severity = ERROR if problem.code in CORRECTED else problem.severity
            problems.setdefault((problem.where, problem.code, problem.what), problem.replace(severity=severity))
    order = {path: place for place, path in enumerate(files)}

    def key(problem: Problem) -> tuple[int, str, int]:
        path, line = split_place(problem.where)
        return order.get(path, len(order)), path, line or 0

    return Findings(tuple(files), tuple(sorted(problems.values(), key=key)))


# -- single files and folders


def _one(setup: Setup, all_of_it: Findings, path: str) -> Findings:
    if not os.path.lexists(path):
        raise UnknownFile(f"{path}: there is no such file or folder.")
    inside = _inside(all_of_it, path)
    if inside.files or inside.problems or _has_sources(setup, path):
        return _only(all_of_it, path)
    if os.path.isdir(path):
        return _folder(setup, path)
    return _in_its_project(setup, path) or _loose(setup, [path])


def _in_its_project(setup: Setup, path: str) -> Findings | None:
    """A file by the nearest folder above it whose hooks include it; None if no folder looks for hooks there."""
    folder, beside = path, None
    for _ in range(ANCESTORS):
        folder = os.path.dirname(folder)
        other = _elsewhere(setup, folder)
        if _has_sources(other, path):
            beside = _project(other)
            if _inside(beside, path).files or _inside(beside, path).problems:
                break  # a folder `hooks` alone may be a plugin's to one dialect and a project's to another
    return None if beside is None else _only(beside, path)


def _elsewhere(setup: Setup, folder: str) -> Setup:
    """The same for another folder, which may be a project or a plugin."""
    real = os.path.realpath(folder)
    return setup.replace(project=real, plugin_dirs=(*setup.plugin_dirs, real))


def _spellings(path: str) -> tuple[str, ...]:
    """As given and as resolved: hooks of a project are known by its real path."""
    return tuple(dict.fromkeys((path.rstrip("/") or "/", os.path.realpath(path))))


def _has_sources(setup: Setup, path: str) -> bool:
    """Whether this project's or user's hooks are looked for at the path, above it or below it."""
    for name in setup.dialects:
        for source in discover(dialect(name), setup.roots(())):
            if not os.path.lexists(source.path):
                continue
            for one in _spellings(path):
                if source.path == one or source.path.startswith(f"{one}/") or one.startswith(f"{source.path}/"):
                    return True
    return False


def _only(findings: Findings, path: str) -> Findings:
    """The findings about the path, which must belong to some hook."""
    found = _inside(findings, path)
    if not found.files and not found.problems and not os.path.isdir(path):
        advice = "Name the file that declares the hook."
        raise UnknownFile(f"{path}: this is not a hook file, although it is next to some. {advice}")
    return found


def _inside(findings: Findings, path: str) -> Findings:
    spellings = _spellings(path)

    def inside(place: str) -> bool:
        return any(place == one or place.startswith(f"{one}/") for one in spellings)

    files = tuple(each for each in findings.files if inside(each))
    return Findings(files, tuple(each for each in findings.problems if inside(split_place(each.where)[0])))


def _folder(setup: Setup, path: str) -> Findings:
    """A project, a plugin, a hook's own folder, or a folder with hook files in it."""
    other = _elsewhere(setup, path)
    if _has_sources(other, path):
        return _only(_project(other), path)
    try:
        names = _names(path, LOOSE_FILES + 1)
    except OSError as error:
        raise UnknownFile(f"{path}: this folder cannot be read ({error.strerror}).") from None
    if len(names) > LOOSE_FILES:
        raise UnknownFile(
            f"{path}: there are more than {LOOSE_FILES:,} names in this folder. Name the files to look at."
        )
    files = [f"{path}/{name}" for name in names]
    files += [f"{folder}/{name}" for folder in files if os.path.isdir(folder) for name in _some_names(folder)]
    least = 1 if len(setup.dialects) == 1 else 2
    chosen = [file for file in files if os.path.isfile(file) and max(_claims(setup, file).values(), default=0) >= least]
    if not chosen:
        raise UnknownFile(f"{path}: there are no hook files in this folder. {_places(setup)}")
    return _loose(setup, chosen)


def _names(folder: str, most: int) -> list[str]:
    """Names in a folder, sorted, up to a limit."""
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry in islice(entries, most))


def _some_names(folder: str) -> list[str]:
    try:
        return _names(folder, NAMES_BELOW)
    except OSError:
        return []


def _loose(setup: Setup, paths: Sequence[str]) -> Findings:
    """Files outside the usual places: each is loaded as its dialect would load it in the right place."""
    found: list[Findings] = []
    for path in paths:
        name = _dialect_of(setup, path)
        table, files = dialect(name), Files()
        source = Source(name, "project", table.claim(path, _document(path))[0], setup.project)
        loaded = Loaded(setup.roots(()), Settings(), files, {name: [load(table, source, files)]}, {}, None)
        found.append(_only(_look(setup, loaded, with_places=False), path))
    problems = tuple(each for one in found for each in one.problems)
    return Findings(tuple(file for one in found for file in one.files), problems)


def _claims(setup: Setup, path: str) -> dict[str, int]:
    document = _document(path)
    claims = {name: dialect(name).claim(path, document)[1] for name in setup.dialects}
    return {name: strength for name, strength in claims.items() if strength}


def _dialect_of(setup: Setup, path: str) -> str:
    claims = _claims(setup, path)
    best = [name for name, strength in claims.items() if strength == max(claims.values())]
    if len(best) == 1 and (claims[best[0]] > 1 or len(setup.dialects) == 1):
        return best[0]
    if not best:
        raise UnknownFile(f"{path}: this is not a hook file. {_places(setup)}")
    titles = " or ".join(best)
    raise UnknownFile(f"{path}: this could be a hook file of {titles}. Say which: --dialect {best[0]}")


def _places(setup: Setup) -> str:
    places = "; ".join(f"{name}: {', '.join(place for _, place in dialect(name).files)}" for name in setup.dialects)
    return f"Hook files are — {places}."


def _document(path: str) -> Json:
    """What a file contains, to find out whose it is; None if it is not a document or does not parse."""
    syntax = SYNTAX_BY_ENDING.get(os.path.splitext(path)[1])
    try:
        return None if syntax is None else Files().parse(path, read_bytes(path).decode("utf-8"), syntax)
    except (OSError, Unreadable, UnicodeDecodeError):
        return None


# Suspicious: commands that a person should look at before they run: code from the network that goes straight into a
# shell, and hidden programs that start with the session. It finds only plain spellings, and starts nothing.


MAX_SCRIPT = 65_536
"""How many bytes of a script are searched."""

LINE_LIMIT = 2_000
"""How much of a line is searched; lines that people write are much shorter."""

FETCH = r"(?:curl|wget|fetch|aria2c|http|https|xh|iwr|irm|Invoke-WebRequest|Invoke-RestMethod)"

SHELLS = r"(?:(?:ba|z|da|k|a|fi)?sh|python[\d.]*|node|perl|ruby|php|bun|deno|iex)\b"

RUNNER = rf"(?:(?:\S*/)?(?:sudo|env|exec)\s+(?:-\S+\s+)*)*(?:\S*/)?{SHELLS}"

FED = re.compile(
    rf"\b{FETCH}\b[^\n;&]*\|\s*{RUNNER}"
    rf"|{SHELLS}\s+(?:-\S+\s+)*<\(\s*{FETCH}\b"
    rf"|(?:{SHELLS}\s+-\S*c|\beval|\bsource|(?:^|[\s;&])\.)\s+[\"']?(?:\$\(|`|<\()\s*{FETCH}\b"
    rf"|\bbase64\s+(?:-\S+\s+)*(?:-d|-D|--decode)\b[^\n;&]*\|\s*{RUNNER}"
)
"""A download, or encoded text, that is run directly. No two parts of the pattern match the same character: the
project's author controls these lines, and could otherwise keep a backtracking search busy forever."""

SHARED_FOLDERS = ("/tmp/", "/var/tmp/", "/dev/shm/")  # noqa: S108 (places to warn about)

SESSION_STARTS = ("session_start",)

UNKNOWN_CODE = "what it will run cannot be approved in advance"


def suspicious(hook: Hook, setup: Setup) -> list[Problem]:
    """The suspicious parts of one hook."""
    project, home = hook.project or setup.project, setup.env.get("HOME", "")
    if hook.handler == "rule":
        return []  # it starts nothing: the commands in its condition are what it looks for
    paths = dialect(hook.dialect).names(hook, Files(), project, home) if hook.handler == "command" else ()
    return [*_fed(hook, paths), *_hidden(hook, paths, project, home)]


def is_fed(line: str) -> bool:
    """Whether a shell line runs what it downloads or decodes."""
    return FED.search(line, 0, LINE_LIMIT) is not None


def _fed(hook: Hook, paths: tuple[str, ...]) -> Iterator[Problem]:
    fix = "Download it once, read it, keep it in the project, and run that."
    words = [text for value in hook.spec.values() for text in (value if isinstance(value, list) else [value])]
    line = " ".join(text for text in words if isinstance(text, str))
    if any(map(is_fed, line.split("\n"))):
        what = f"hook `{hook.name}` runs code that it downloads or decodes at that moment"
        yield Problem("downloaded-code", what, hook.where(), UNKNOWN_CODE, fix, WARNING)
    for path in paths:
        text = (head(path, MAX_SCRIPT) or b"").decode("utf-8", "replace")
        for number, each in enumerate(text.split("\n"), 1):
            if not each.lstrip().startswith(("#", "//")) and is_fed(each):
                what = f"the script of hook `{hook.name}` runs code that it downloads or decodes at that moment"
                why = UNKNOWN_CODE
                yield Problem("downloaded-code", what, f"{path}:{number}", why, fix, WARNING)
                break


def _hidden(hook: Hook, paths: tuple[str, ...], project: str, home: str) -> Iterator[Problem]:
    if not set(SESSION_STARTS).intersection(hook.events):
        return
    for path in paths:
        name = os.path.basename(path)
        shared = path.startswith(SHARED_FOLDERS) and not path.startswith((f"{project}/", f"{home}/"))
        if shared or name.startswith(".") or "/.git/" in path:
            what = f"hook `{hook.name}` starts a hidden program when a session starts: {path}"
            fix = "Look at that file. If it is yours, give it a plain name and keep it with the other hooks."
            yield Problem("hidden-program", what, hook.where(), "", fix, WARNING)


# Unread: hook files of agents whose dialect is not read here. It looks in the known places, and ignores files that a
# dialect reads or that we wrote ourselves.


MAX_LOOKED_AT = 200
"""How many paths are looked at for one place."""

OURS = b"anyhook"


def unread_files(setup: Setup) -> list[Problem]:
    """One problem for each file, by agent."""
    roots = setup.roots(())
    read = tuple(_read_by_us(roots))
    found: dict[str, Problem] = {}
    for place in HOOK_PLACES:
        for path in _paths(place.paths, roots):
            if path in found or (not place.beside and _is_read(path, read)):
                continue
            text = head(path, MAX_BYTES)
            if text and place.word.encode() in text and not (OURS in text and b"bridge" in text):
                what = f"this hook file belongs to {place.title}{_reason(place)}"
                found[path] = Problem("unread-file", what, path, "", "", WARNING)
    return list(found.values())


def _reason(place: HookPlace) -> str:
    if place.idle:
        return f", {place.idle}"
    return f"; it is code, which only {place.title} can run" if place.code else "; its hooks do not run here"


def runs_no_hooks(agent: str) -> str:
    """What to do about an agent that runs no hooks; "" for other agents."""
    for place in HOOK_PLACES:
        if place.idle and place.title.lower().partition(" ")[0] == agent.lower():
            door = "`anyhook mcp -- COMMAND` puts hooks before the tools of an MCP server, in any agent."
            return f"Nothing can call anyhook in {place.title}, {place.idle}. {door}"
    return ""


def _is_read(path: str, read: Sequence[str]) -> bool:
    return any(path == each or path.startswith(f"{each}/") for each in read)


def _read_by_us(roots: Roots) -> Iterator[str]:
    for name in DIALECTS:
        try:
            yield from (source.path for source in discover(dialect(name), roots))
        except Exception:  # noqa: BLE001, S112 (that dialect reports it itself)
            continue


def _paths(patterns: Sequence[str], roots: Roots) -> Iterator[str]:
    folders = {
        "{project}": roots.project,
        "{home}": roots.home,
        "{config}": roots.xdg("XDG_CONFIG_HOME", ".config"),
    }
    for pattern in patterns:
        base, _, rest = pattern.partition("/")
        names = glob.iglob(f"{glob.escape(folders[base])}/{rest}", include_hidden=True)
        yield from (path for path in islice(names, MAX_LOOKED_AT) if os.path.isfile(path))
