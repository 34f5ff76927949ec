"""Inspect: what would go wrong with a hook if its event came. It never runs, imports or asks anything."""

from __future__ import annotations

import glob
import json
import os
import re
import sys
from collections.abc import Collection, Iterable, Sequence
from importlib.machinery import ModuleSpec, PathFinder

from anyhook.documents.files import Files
from anyhook.documents.mistakes import conflict_line
from anyhook.documents.read import MAX_BYTES, Unreadable, read_bytes
from anyhook.handlers.mcp_tool import no_call
from anyhook.model.event import Event
from anyhook.model.hook import Hook
from anyhook.model.json_types import Json
from anyhook.model.problem import ERROR, WARNING, Problem
from anyhook.model.words import Severity
from anyhook.platform.places import head as first_bytes
from anyhook.programs.start import Fault, StartContext, fault_of, shell_signs
from anyhook.state.plans import Setup
from anyhook.tables.patterns import BadPattern, PatternTimeout, can_never_match, names_only
from anyhook.tables.registry import dialect
from anyhook.tables.rows import Dialect, EventRow, Launch, Roots, Scene

TARGET_VALUES = {"source": ("startup", "resume", "clear", "compact"), "trigger": ("manual", "auto")}
"""The known values of targets that users do not name themselves."""

MISPLACED_LIMIT = 100
"""How many misplaced files are named."""


def missing_program(hook: Hook, setup: Setup) -> str:
    """Why a command hook's program cannot be started; "" if no reason is found."""
    if hook.handler != "command" or not hook.native_event:
        return ""
    launch = _launch(hook, setup)
    if launch.missing or not launch.argv:
        return launch.missing
    fault = fault_of(launch.argv, _start_context(hook, launch))
    return fault.what if fault else ""


def inspect(hook: Hook, setup: Setup) -> list[Problem]:
    """All problems of one hook that can be found without starting it."""
    table = dialect(hook.dialect)
    found = [
        *_command(hook, table, setup),
        *_conflict(hook, table, setup),
        *_callable(hook, setup),
        *_mcp_tool(hook, table, setup),
        *_limit(hook, table),
    ]
    row = table.row(hook.native_event)
    return found if row is None else [*found, *_matcher(hook, table, row)]


def _launch(hook: Hook, setup: Setup) -> Launch:
    table = dialect(hook.dialect)
    row = table.row(hook.native_event) or table.events[0]
    event = Event(row.canonical[0], {})
    return table.launch(hook, Scene(event, row.native, hook.project or setup.project, "", setup.for_hooks, {}))


def _start_context(hook: Hook, launch: Launch) -> StartContext:
    folder = os.path.dirname(hook.source)
    return StartContext(launch.env, launch.cwd, tuple(dict.fromkeys((folder, hook.root, os.path.dirname(folder)))))


def _command(hook: Hook, table: Dialect, setup: Setup) -> list[Problem]:
    if hook.handler != "command":
        return []
    launch = _launch(hook, setup)
    if launch.missing or not launch.argv:
        return []  # reported on loading
    signs = shell_signs(_written(hook, launch))
    if signs and launch.argv[0] in (signs[0], signs[0].strip('"')):
        return [_no_shell(hook, signs, ERROR)]
    found = [_no_shell(hook, signs, WARNING)] if signs else []
    fault = fault_of(launch.argv, _start_context(hook, launch))
    return [*found, _start_problem(hook, table, fault)] if fault else found


def _written(hook: Hook, launch: Launch) -> Json:
    """The command as its author wrote it, if it is split into words without a shell; else nothing."""
    text = hook.spec.get("exec", hook.spec.get("command", ""))
    return "" if launch.argv[1:] == ("-c", text) else text


def _no_shell(hook: Hook, signs: list[str], severity: Severity) -> Problem:
    shown = ", ".join(f"`{sign}`" for sign in signs[:3])
    return Problem("no-shell", f"`{hook.name}` is started without a shell, which {shown} would need", hook.where(),
                   fix="Call a shell (sh -c '…'), or put the line into a script.", severity=severity)  # fmt: skip


def _start_problem(hook: Hook, table: Dialect, fault: Fault) -> Problem:
    """With the dialect's own error id, if it has one for a hook that cannot be started."""
    code = table.failing.codes.get("not_started", fault.code)
    return Problem(code, f"hook `{hook.name}` cannot be started", hook.where(), fault.what, fault.fix)


def _conflict(hook: Hook, table: Dialect, setup: Setup) -> list[Problem]:
    """Merge conflict markers left in a script, which make its behaviour unpredictable."""
    project, home = hook.project or setup.project, setup.env.get("HOME", "")
    for path in table.names(hook, Files(), project, home) if hook.handler in ("command", "python") else ():
        line = conflict_line((first_bytes(path, MAX_BYTES) or b"").decode("utf-8", "replace"))
        if line is not None:
            what = f"hook `{hook.name}` cannot be used: {path} holds the markers of a merge conflict (line {line})"
            return [Problem("merge-conflict", what, f"{path}:{line}", fix="Resolve the conflict.")]
    return []


def _callable(hook: Hook, setup: Setup) -> list[Problem]:
    if hook.handler != "python":
        return []
    folders = [hook.project or setup.project] if hook.scope == "project" else []
    missing = missing_callable(str(hook.spec["callable"]), folders)
    fix = "Correct the name; a project's hooks find modules in the project and in the interpreter that runs anyhook."
    what = f"hook `{hook.name}` cannot be called"
    return [Problem("module-missing", what, hook.where(), missing, fix)] if missing else []


def _mcp_tool(hook: Hook, table: Dialect, setup: Setup) -> list[Problem]:
    if hook.handler != "mcp_tool":
        return []
    why = no_call(hook, table, setup.env, hook.project or setup.project)
    what = f"hook `{hook.name}` cannot call its tool"
    fix = "Name a server that the agent's settings have, or install what is missing."
    return [Problem("server-missing", what, hook.where(), why, fix)] if why else []


def _limit(hook: Hook, table: Dialect) -> list[Problem]:
    """Limits that are in range, but probably in the wrong unit."""
    limits = table.limits.get(hook.handler)
    raw = _raw_limit(hook)
    if limits is None or raw is None or raw <= 0:
        return []
    unit, other = ("milliseconds", "seconds") if limits.unit_s < 1 else ("seconds", "milliseconds")
    if limits.unit_s < 1 and raw < 100:
        meant = f"{raw * 1000:g}"
    elif limits.unit_s >= 1 and raw >= 1000:
        meant = f"{raw / 1000:g}"
    else:
        return []
    what = f"the time limit {raw:g} is in {unit} here, and looks like {other}"
    return [Problem("wrong-unit", what, hook.where(), fix=f"Write {meant} if {other} were meant.", severity=WARNING)]


def _raw_limit(hook: Hook) -> float | None:
    try:
        declared = json.loads(hook.definition or "{}")
    except (ValueError, RecursionError):
        return None
    handler = declared.get("handler", declared) if isinstance(declared, dict) else None
    for key, value in handler.items() if isinstance(handler, dict) else ():
        if key.startswith("timeout") and isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value) if abs(value) < 1e15 else None
    return None


def _matcher(hook: Hook, table: Dialect, row: EventRow) -> list[Problem]:
    matcher = hook.matcher
    pattern = matcher.get("tool") if isinstance(matcher, dict) else matcher
    if not isinstance(pattern, str) or pattern.strip() in ("", "*"):
        return []
    if row.target is None:
        return _no_target(hook, table, row) if not isinstance(matcher, dict) else []  # otherwise reported on loading
    why = _never(pattern, row.target, searched=isinstance(matcher, dict))
    what = f"the matcher {pattern!r} matches no {row.target.replace('_', ' ')}, so the hook never runs"
    return [Problem("matcher-never-matches", what, hook.where(), why, severity=WARNING)] if why else []


def _no_target(hook: Hook, table: Dialect, row: EventRow) -> list[Problem]:
    """An event that gives matchers nothing to match: dialects ignore the matcher there, or never match."""
    try:
        why = table.match(hook, Event(row.canonical[0], {}), row)
    except (PatternTimeout, BadPattern):
        return []
    if why is None:
        what = f"{row.native} has nothing to match, so the matcher {hook.matcher!r} is ignored"
        return [Problem("matcher-ignored", what, hook.where(), severity=WARNING)]
    what = f"{row.native} gives matchers nothing to match, so this hook never runs"
    why = f"the matcher {hook.matcher!r} is compared with an empty text"
    return [Problem("matcher-never-matches", what, hook.where(), why, "Remove the matcher.", WARNING)]


def _never(pattern: str, target: str, searched: bool) -> str:
    if target in TARGET_VALUES:
        names, known = names_only(pattern), TARGET_VALUES[target]
        return f"hosts give one of {', '.join(known)}" if names and names.isdisjoint(known) else ""
    why = can_never_match(pattern) if target == "tool" else None
    # A pattern that is searched for and can match the empty text is found in every name.
    return "" if why is None or (searched and "empty name" in why) else why


def duplicates(hooks: Iterable[Hook]) -> list[Problem]:
    """Declarations that are the same in every key; packs that two scopes use are one problem."""
    seen: dict[tuple[str, ...], Hook] = {}
    found: list[Problem] = []
    packs: dict[tuple[str, str], list[Hook]] = {}
    for hook in hooks:
        if not hook.place or not hook.definition:
            continue
        key = (hook.dialect, hook.native_event, hook.definition, hook.label)
        first = seen.setdefault(key, hook)
        if first is not hook and hook.condition is not None and hook.group and hook.scope != first.scope:
            packs.setdefault((first.scope, hook.scope), []).append(hook)
        elif first is not hook:
            what = f"hook `{hook.name}` is declared twice in the same words"
            same = dialect(hook.dialect).identity
            why = f"{first.where()} says the same, so it runs {'once' if same(first) == same(hook) else 'twice'}"
            found.append(Problem("duplicate-hook", what, hook.where(), why, "Remove one of them.", WARNING))
    for scopes, rules in packs.items():
        names = [*dict.fromkeys(hook.group for hook in rules)]
        what = f"these packs are on in two scopes, {' and '.join(scopes)}: {', '.join(names)}"
        why = f"Each of {len(rules)} rules is asked twice, which changes no answer."
        fix = "Nothing to do. To be asked once, take them out of one: anyhook remove PACK --scope SCOPE"
        found.append(Problem("duplicate-hook", what, rules[0].project or rules[0].source, why, fix, WARNING))
    return found


def misplaced(table: Dialect, roots: Roots, read: Collection[str]) -> list[Problem]:
    """Files where people put hooks, but where the dialect does not look. `read` has those that were read anyway."""
    bases = {
        "{project}": [roots.project],
        "{home}": [roots.home],
        "{config}": [roots.xdg("XDG_CONFIG_HOME", ".config")],
        "{state}": [roots.xdg("XDG_STATE_HOME", ".local/state")],
        "{plugin}": list(roots.plugin_dirs),
    }
    found: dict[str, Problem] = {}
    for row in table.misplaced:
        base, _, rest = row.path.partition("/")
        for folder in bases[base]:
            for path in glob.iglob(f"{glob.escape(folder)}/{rest}", include_hidden=True):
                if len(found) >= MISPLACED_LIMIT:
                    return list(found.values())
                if path not in found and path not in read and not _inside(path, read) and _holds(path, row.word):
                    what = f"{table.title} does not look here, so this file is ignored"
                    found[path] = Problem("misplaced-file", what, path, "", f"Move it to {row.belongs}.", WARNING)
    return list(found.values())


def _inside(path: str, read: Collection[str]) -> bool:
    """Whether the file is below a folder that is itself a hook: then it belongs to that hook."""
    folder, name = os.path.split(path)
    hooks = (os.path.dirname(other) for other in read if os.path.basename(other) == name)
    return any(folder.startswith(f"{hook}/") for hook in hooks)


def _holds(path: str, word: str) -> bool:
    """Whether there is a regular file with exactly this name that contains the word."""
    try:
        folder, name = os.path.split(path)
        return name in os.listdir(folder) and word.encode() in read_bytes(path)
    except (OSError, Unreadable):
        return False


# Python callables as dialects name them (`module.path:function`): whether they are there. Nothing is imported.


def missing_callable(name: str, folders: Sequence[str]) -> str:
    """What is missing of a callable; "" if nothing seems to be. `folders` are searched first."""
    module, _, function = name.partition(":")
    parts = module.split(".")
    path: Sequence[str] | None = None
    spec: ModuleSpec | None = None
    for depth, part in enumerate(parts):
        full = ".".join(parts[: depth + 1])
        spec = _find(full, path, folders)
        if spec is None:
            package = ".".join(parts[:depth])
            return f"`{package}` has no module `{part}`" if package else f"there is no module `{full}`"
        path = spec.submodule_search_locations
        if path is None and depth < len(parts) - 1:
            return f"`{full}` is a module, not a package"
    return _missing_function(spec, module, function.split(".")[0]) if spec is not None else ""


def _find(full: str, path: Sequence[str] | None, folders: Sequence[str]) -> ModuleSpec | None:
    if path is not None:
        return PathFinder.find_spec(full, list(path))
    found = PathFinder.find_spec(full, list(folders))
    for finder in () if found else sys.meta_path:
        found = finder.find_spec(full, None)
        if found is not None:
            break
    return found


def _missing_function(spec: ModuleSpec, module: str, function: str) -> str:
    """Only what is certain: a source that never mentions the name, and that cannot get it from elsewhere."""
    if not spec.origin or not spec.origin.endswith(".py"):
        return ""
    try:
        source = read_bytes(spec.origin).decode("utf-8", "replace")
    except (OSError, Unreadable):
        return f"{spec.origin} cannot be read"
    if re.search(rf"\b{re.escape(function)}\b|import \*|__getattr__|globals\(|setattr\(", source):
        return ""
    return f"`{module}` ({spec.origin}) has no `{function}`"
