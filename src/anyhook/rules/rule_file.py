"""Rule files: each `[[rule]]` → hooks. A rule that cannot be read becomes a problem and a broken hook; it does not
affect other rules and is never skipped silently."""

from __future__ import annotations

import os

from anyhook.model.event import EVENTS
from anyhook.model.hook import BROKEN, CHANGED, DISABLED, Hook
from anyhook.model.problem import ERROR, WARNING
from anyhook.rules.language import Names, events_of, named_in, parse
from anyhook.rules.marks import needs_of
from anyhook.rules.paths import CLASSES, compile_path
from anyhook.rules.templates import wrong_template
from anyhook.rules.tokens import BadCondition
from anyhook.rules.wildcards import is_plain, like
from anyhook.tables.shapes import canonical, guess, numbered, read_limit, slug, type_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from anyhook.documents.files import Files
    from anyhook.model.hook import Source
    from anyhook.model.json_types import Json
    from anyhook.model.words import HandlerKind, HookState, Severity
    from anyhook.rules.language import Condition, Node
    from anyhook.tables.rows import EventRow, Limits

    Place = tuple[str | int, ...]

USUAL = {"when": "pre_tool", "before": "pre_tool", "after": "post_tool"}
"""The keys for a condition, and their default event."""
ACTIONS = ("deny", "ask", "warn", "context", "rewrite", "run")
RUNNING = ("run", "deny", "context")
"""Actions that can use a command."""
OWN_HOSTS = ("fire", "library", "agent", "mcp")
"""Agent names for calls that do not come from a known agent."""
SEVERITIES = ("low", "medium", "high", "critical")
TEXTS_OF_A_RULE = ("name", *USUAL, "unless", "then", "because", "instead", "run", "severity")
LISTS = ("agents", "tools", "except")
KEYS = (*TEXTS_OF_A_RULE, *LISTS, "to", "timeout", "enabled")
RELAXED = ("rule", "then", "unless", "except", "enabled")
TOP = ("rule", "relax", "use", "words", "paths", "pack", "$schema")
PACKS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "guard", "packs")
"""The packs that come with anyhook."""


class RuleError(Exception):
    """Why a rule cannot be used, which of its keys is wrong, and how to fix it."""

    def __init__(self, what: str, key: str = "", fix: str = "") -> None:
        super().__init__(what)
        self.what, self.key, self.fix = what, key, fix


class RuleFile:
    """Reads one file's rules, and those of the packs that it uses. Used for one load."""

    def __init__(self, source: Source, files: Files, rows: Iterable[EventRow], limits: Limits) -> None:
        self.source, self.files, self.limits = source, files, limits
        self.rows = {row.native: row for row in rows}
        self.hooks: list[Hook] = []
        self.relaxed: list[dict[str, Json]] = []
        self.path, self.label = source.path, ""
        self.line: int | None = None
        """The line of the declaration, if it cannot be found in the document."""
        self.changed = ""
        """Why the rules of the current pack do not count, or ""."""
        self.modules: dict[str, str] = {}
        """What the functions of a `hooks.py` import from its folder."""

    def complain(self, code: str, what: str, place: Place, fix: str = "", severity: Severity = ERROR) -> None:
        self.files.problem_at(code, what, self.path, place, fix=fix, severity=severity)

    def read(self, document: Json) -> list[Hook]:
        """The hooks of the file, then those of its packs."""
        if not isinstance(document, dict):
            self.complain("wrong-type", f"the file must hold tables, not {type_name(document)}", ())
            return []
        self.relaxed = self.tables(document, "relax")
        for place, relaxed in enumerate(self.relaxed):
            self.unknown_keys(relaxed, RELAXED, ("relax", place), "a relaxation")
        self.rules(document)
        used = document.get("use", [])
        if not isinstance(used, list) or not all(isinstance(name, str) for name in used):
            self.complain("wrong-type", "`use` must be a list of packs", ("use",), 'Write use = ["git"].')
            used = []
        for place, name in enumerate(used):
            self.pack(str(name), ("use", place))
        return numbered(self.hooks)

    def pack(self, name: str, place: Place) -> None:
        """The rules of a pack: a shipped one by its name, any other by its path from this file's folder."""
        shipped = "/" not in name
        folder = PACKS if shipped else os.path.dirname(self.source.path)
        path = os.path.normpath(os.path.join(folder, f"{name}.toml" if shipped else name))
        document = self.files.document(path, "toml")
        if not isinstance(document, dict):
            if self.files.look(path) is None:
                known = [each.removesuffix(".toml") for each in self.files.names(PACKS) if each.endswith(".toml")]
                fix = f"Packs: {', '.join(known)}.{guess(name, known)}" if shipped else "Correct the path."
                self.complain("unknown-pack", f"there is no pack `{name}`", place, fix)
            return
        self.path, self.label = path, os.path.basename(path).removesuffix(".toml")
        self.changed = "" if shipped else self.change_of(name)
        if document.get("use"):
            self.complain("unknown-key", "a pack cannot use other packs; `use` is ignored", ("use",), severity=WARNING)
        self.rules(document)
        self.path, self.label, self.changed = self.source.path, "", ""

    def change_of(self, name: str) -> str:
        """Why the rules of a package do not count: its files have changed since they were added. "" if they have not,
        and for files outside packages."""
        from anyhook.documents.lock import FOLDER, changed_files, packages_in

        top, _, rest = os.path.normpath(name).partition("/")
        package, folder = rest.partition("/")[0], os.path.dirname(self.source.path)
        pinned = packages_in(folder, self.files).get(package) if top == FOLDER else None
        changed = changed_files(f"{folder}/{FOLDER}/{package}", pinned, self.files) if pinned is not None else []
        if not changed:
            return ""
        named = ", ".join(changed[:3])
        return f"the package `{package}` has changed since it was added ({named}); see `anyhook guards`"

    def tables(self, document: Mapping[str, Json], key: str) -> list[dict[str, Json]]:
        found = document.get(key, [])
        if isinstance(found, list) and all(isinstance(each, dict) for each in found):
            return [each for each in found if isinstance(each, dict)]
        self.complain("wrong-type", f"`{key}` must be a list of tables", (key,), f"Write [[{key}]] above each.")
        return []

    def unknown_keys(self, value: Mapping[str, Json], known: tuple[str, ...], place: Place, owner: str) -> None:
        for key in value:
            if key not in known:
                fix = f"Known keys: {', '.join(known)}.{guess(key, known)}"
                self.complain(
                    "unknown-key", f"{owner} has an unknown key `{key}`; it is ignored", (*place, key), fix, WARNING
                )

    def rules(self, document: dict[str, Json]) -> None:
        self.unknown_keys(document, TOP, (), "the file")
        names = Names(self.words(document), self.paths(document))
        for place, table in enumerate(self.tables(document, "rule")):
            self.unknown_keys(table, KEYS, ("rule", place), "a rule")
            self.rule(table, names, ("rule", place))

    def words(self, document: Mapping[str, Json]) -> dict[str, str]:
        found = document.get("words", {})
        if isinstance(found, dict) and all(isinstance(text, str) for text in found.values()):
            return {name: str(text) for name, text in found.items()}
        self.complain("wrong-type", "`words` must be a table of texts", ("words",), 'Write shells = "sh|bash".')
        return {}

    def paths(self, document: Mapping[str, Json]) -> dict[str, tuple[str, ...]]:
        found, made = document.get("paths", {}), dict[str, tuple[str, ...]]()
        for name, listed in found.items() if isinstance(found, dict) else [("paths", found)]:
            right = isinstance(listed, list) and all(isinstance(path, str) and path for path in listed)
            if not right or name in CLASSES:
                what = f"`@{name}` is defined already" if right else f"`{name}` must be a list of paths"
                self.complain("wrong-type", f"{what}; it is ignored", ("paths", name), 'Write keys = ["~/.ssh/id_*"].')
            elif isinstance(listed, list):
                made[name] = tuple(str(path) for path in listed)
        return made

    def rule(self, table: dict[str, Json], names: Names, place: Place, function: str = "") -> None:
        """One rule: a hook for each of its events, or a broken hook if it cannot be used. For rules of a `hooks.py`,
        `function` is called if the condition is true."""
        key = next((each for each in USUAL if each in table), "")
        named = table.get("name")
        name = named if isinstance(named, str) and named else str(table.get(key, "rule"))
        given: dict[str, Json] = {**table, "name": name}
        for relaxed in self.relaxed:
            given = _relaxed(given, relaxed, self.label)
        limit_s = self.limits.default_s
        try:
            limit_s = self.limit(given)
            tree = self.condition(given, names, key)
            events = sorted(events_of(tree, USUAL[key]), key=[*EVENTS].index)
            spared = tuple(compile_path(path) for path in _list(given, "except"))
            spec = self.spec(given, function)
        except RuleError as error:
            at = (*place, error.key) if error.key in table else place
            wrong = f"`{error.key}`: {error.what}" if error.key else error.what
            self.complain("invalid-rule", f"rule `{name}` cannot be used: {wrong}", at, error.fix)
            self.add(given, [USUAL.get(key, "pre_tool")], {"then": "deny"}, at, limit_s, BROKEN, wrong)
            return
        self.unknown_agents(named_in(tree, "agent"), name, (*place, "agents" if "agents" in table else key))
        off = given.get("enabled") is False
        why = "`enabled` is false in its file" if off else ""
        status: HookState = DISABLED if off else "armed"
        self.add(given, events, spec, (*place, key), limit_s, status, why, (tree, needs_of(tree), spared))

    def unknown_agents(self, names: Iterable[str], rule: str, place: Place) -> None:
        """Agents that anyhook does not know: either a program that embeds it, or a rule that never applies."""
        if not names:
            return
        from anyhook.tables.registry import DIALECTS, HOSTS

        known = [*dict.fromkeys((*HOSTS, *DIALECTS, *OWN_HOSTS))]
        for name in names:
            if is_plain(name) and name not in known:
                what = f"rule `{rule}` is for the agent `{name}`, which anyhook does not know"
                self.complain("unknown-agent", what, place, f"Agents: {', '.join(HOSTS)}.{guess(name, known)}", WARNING)

    def limit(self, table: Mapping[str, Json]) -> float:
        limit_s, complaint = read_limit(table.get("timeout"), self.limits)
        if complaint or limit_s is None:
            raise RuleError(complaint, "timeout", "Give seconds.")
        return limit_s

    def condition(self, table: Mapping[str, Json], names: Names, key: str) -> Node:
        """The complete condition: `when`, without `unless`, for these agents and tools."""
        for each, kind in (*((text, str) for text in TEXTS_OF_A_RULE), *((many, list) for many in LISTS)):
            if each in table and not isinstance(table[each], (kind, list) if each == "unless" else kind):
                raise RuleError(
                    f"it must be {'text' if kind is str else 'a list of texts'}, not {type_name(table[each])}", each
                )
        given = [each for each in USUAL if each in table]
        if len(given) != 1:
            what = (
                f"it has {' and '.join(f'`{each}`' for each in given)}" if given else "it does not say when it applies"
            )
            raise RuleError(what, given[1] if given else "", "Write one of when, before, after.")
        parts = [_parsed(str(table[key]), names, key)]
        parts += [("not", _parsed(other, names, "unless")) for other in _list(table, "unless")]
        agents, _ = _list(table, "agents"), _list(table, "tools")
        if agents:
            parts.insert(0, ("agent", agents))
        return parts[0] if len(parts) == 1 else ("and", tuple(parts))

    def spec(self, table: Mapping[str, Json], function: str) -> dict[str, Json]:
        then = "function" if function else str(table.get("then") or ("run" if "run" in table else "deny"))
        if then not in ACTIONS and not function:
            raise RuleError(
                f"`{then}` is not an action", "then", f"Actions: {', '.join(ACTIONS)}.{guess(then, ACTIONS)}"
            )
        severity = str(table.get("severity", "medium"))
        if severity not in SEVERITIES:
            fix = f"Severities: {', '.join(SEVERITIES)}.{guess(severity, SEVERITIES)}"
            raise RuleError(f"`{severity}` is not a severity", "severity", fix)
        if not isinstance(table.get("enabled", True), bool):
            raise RuleError("it must be true or false", "enabled")
        condition = next(str(table[key]) for key in USUAL if key in table)
        spec: dict[str, Json] = {"then": then, "severity": severity, "condition": condition}
        if function:
            return {**spec, "function": function, "modules": {**self.modules}}
        for key in ("because", "instead", "run", "to"):
            if key in table:
                spec[key] = table[key]
        _check_action(then, spec)
        return spec

    def add(
        self, table: Mapping[str, Json], events: list[str], spec: dict[str, Json], place: Place, limit_s: float,
        status: HookState, why: str, condition: Condition | None = None,
    ) -> None:  # fmt: skip
        if self.changed and status == "armed":
            status, why = CHANGED, self.changed
        source, name = self.source.replace(path=self.path), str(table["name"])
        owner = ":".join(filter(None, (source.scope, source.label, self.label)))
        tools = _list(table, "tools") if status != BROKEN else ()
        matcher: dict[str, Json] = {key: table[key] for key in (*USUAL, "unless", "agents") if key in table}
        if tools:
            matcher["tool"] = "|".join(tools)
        means = _plain(condition[0]) if condition is not None else None
        self.files.made_hook()
        handler: HandlerKind = "function" if "function" in spec else "command" if "run" in spec else "rule"
        if self.line is not None:
            place = ()  # the line says where it is
        for event in events:
            hook = source.hook(
                f"{owner}:{event}:{_short(name)}", name, event, self.rows[event].canonical, spec, limit_s, place=place,
                matcher=matcher, handler=handler, status=status, why=why, line=self.line,
                definition=canonical({"rule": dict(table), "means": means}), condition=condition,
            )  # fmt: skip
            self.hooks.append(hook)


def _parsed(text: str, names: Names, key: str) -> Node:
    try:
        return parse(text, names)
    except BadCondition as error:
        raise RuleError(f"column {error.column}: {error.what}", key, error.fix) from None


def _check_action(then: str, spec: Mapping[str, Json]) -> None:
    run, to = spec.get("run"), spec.get("to")
    if then == "run" and run is None:
        raise RuleError("it has nothing to run", "then", 'Add run = "…".')
    if run is not None and then not in RUNNING:
        raise RuleError(f"a command cannot {then}", "run", f"With `run`, `then` is one of {', '.join(RUNNING)}.")
    if (then == "rewrite") != (to is not None):
        raise RuleError(
            "`rewrite` and `to` belong together", "then", 'Write then = "rewrite" and to = "{command} --dry-run".'
        )
    if to is not None and not isinstance(to, str) and not (isinstance(to, dict) and to):
        raise RuleError("it must be the new command, or a table of input fields", "to")
    if then in ("warn", "context") and run is None and not spec.get("because"):
        raise RuleError(f"`{then}` needs a text", "then", 'Add because = "…".')
    templates = [(key, spec[key], key == "run") for key in ("run", "because", "instead", "to") if key in spec]
    for key, text, quoted in templates:
        for each in text.values() if isinstance(text, dict) else [text]:
            wrong = wrong_template(each, quoted) if isinstance(each, str) else ""
            if wrong:
                raise RuleError(wrong, key)


def _relaxed(table: dict[str, Json], relaxed: Mapping[str, Json], label: str) -> dict[str, Json]:
    """A rule with the file's relaxations applied."""
    wanted, name = str(relaxed.get("rule", "")), str(table["name"])
    if not (like(wanted, name) or (label and like(wanted, f"{label}/{name}"))):
        return table
    made = {**table, **{key: relaxed[key] for key in ("then", "enabled") if key in relaxed}}
    if "unless" in relaxed:
        made["unless"] = [*_many(table.get("unless")), *_many(relaxed["unless"])]
    if "except" in relaxed:
        made["except"] = [*_many(table.get("except")), *_many(relaxed["except"])]
    return made


def _many(value: Json) -> list[Json]:
    return [] if value is None else list(value) if isinstance(value, list) else [value]


def _list(table: Mapping[str, Json], key: str) -> tuple[str, ...]:
    listed = _many(table.get(key))
    if not all(isinstance(each, str) and each for each in listed):
        raise RuleError("it must be a list of texts", key)
    return tuple(str(each) for each in listed)


def _short(name: str) -> str:
    """A name that can be part of an id, without repeated dashes."""
    return "-".join(filter(None, slug(name).split("-"))) or "rule"


def _plain(tree: Any) -> Json:
    """A condition as JSON."""
    made: Json = [_plain(each) for each in tree] if isinstance(tree, tuple) else tree
    return made


def rule_schema() -> dict[str, Json]:
    """A rule file as JSON Schema."""
    from anyhook.tables.schema import NUMBER, TEXT, TEXTS, table

    keys: dict[str, Json] = {
        **dict.fromkeys(TEXTS_OF_A_RULE, TEXT),
        **dict.fromkeys(LISTS, TEXTS),
        "then": {"enum": list(ACTIONS)},
        "severity": {"enum": list(SEVERITIES)},
        "to": {"anyOf": [TEXT, {"type": "object", "minProperties": 1}]},
        "timeout": NUMBER,
        "enabled": {"type": "boolean"},
    }
    rule = table(keys, [])
    rule["oneOf"] = [{"required": [key]} for key in USUAL]
    relaxed = {key: TEXT if key == "rule" else keys[key] for key in RELAXED}
    top: dict[str, Json] = {
        "rule": {"type": "array", "items": rule},
        "relax": {"type": "array", "items": table(relaxed, ["rule"])},
        "use": TEXTS,
        "words": {"type": "object", "additionalProperties": TEXT},
        "paths": {"type": "object", "additionalProperties": TEXTS},
        "pack": {"type": "object"},
        "$schema": TEXT,
    }
    return table(top, [])
