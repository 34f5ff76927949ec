"""Rule files: each `[[rule]]` → hooks. A rule that cannot be read becomes a problem and a broken hook; it does not
affect other rules and is never skipped silently."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anyhook.documents.files import Files
from anyhook.documents.pins import FOLDER, LOCK, changed_files, packages_in
from anyhook.model.event import EVENTS
from anyhook.model.hook import BROKEN, CHANGED, DISABLED, Hook, Source
from anyhook.model.json_types import Json
from anyhook.model.problem import ERROR, WARNING
from anyhook.model.words import HandlerKind, HookState, Severity
from anyhook.rules.language import Names, events_of, named_in, parse
from anyhook.rules.marks import listened_by, needs_of
from anyhook.rules.paths import CLASSES, compile_path
from anyhook.rules.templates import wrong_template
from anyhook.rules.tokens import BadCondition
from anyhook.rules.wildcards import is_plain, names_rule
from anyhook.tables.registry import DIALECTS, HOSTS
from anyhook.tables.rows import EventRow, Limits
from anyhook.tables.schema import NUMBER, TEXT, TEXTS
from anyhook.tables.schema import table as described
from anyhook.tables.shapes import canonical, guess, numbered, read_limit, slug, type_name

if TYPE_CHECKING:
    from anyhook.rules.language import Condition, Node

    Place = tuple[str | int, ...]
    Parts = tuple[Node, tuple[Any, ...], dict[str, Json]]
    """A rule's condition, the paths that it spares, and what it does."""

USUAL = {"when": "pre_tool", "before": "pre_tool", "after": "post_tool"}
"""The keys for a condition, and their default event."""
ACTIONS = ("deny", "ask", "warn", "context", "rewrite", "redact", "run")
RUNNING = ("run", "deny", "context")
"""Actions that can use a command."""
OWN_HOSTS = ("fire", "library", "agent", "mcp")
"""Agent names for calls that do not come from a known agent."""
SEVERITIES = ("low", "medium", "high", "critical")
TEXTS_OF_A_RULE = ("name", *USUAL, "unless", "then", "because", "instead", "run", "severity")
LISTS = ("agents", "tools", "except", "env")
KEYS = (*TEXTS_OF_A_RULE, *LISTS, "to", "timeout", "enabled")
RELAXED = ("rule", "then", "unless", "except", "enabled", "projects")
END = "end"
"""The last table of a shipped pack: a file without it has been cut, and rules are missing."""
TOP = ("rule", "relax", "use", "words", "paths", "pack", END, "$schema")
PACKS = os.path.join(os.path.dirname(__file__), "packs")
"""The packs that come with anyhook."""
AGAIN = "If it was there before, install anyhook again."


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
        self.relaxed: dict[int, dict[str, Json]] = {}
        """The relaxations that can be understood, by their number in the file."""
        self.relaxing: set[int] = set()
        """Those that name a rule."""
        self.refused: set[int] = set()
        """Those that a rule cannot be used with."""
        self.known: list[str] = []
        """The names of all rules, with their packs."""
        self.path, self.label = source.path, ""
        self.line: int | None = None
        """The line of the declaration, if it cannot be found in the document."""
        self.changed = ""
        """Why the rules of the current pack do not count, or ""."""
        self.remembered: tuple[str, ...] = ()
        self.names = Names()
        """What the current function asks its session about."""
        self.modules: dict[str, str] = {}
        """What the functions of a `hooks.py` import from its folder."""

    def complain(self, code: str, what: str, place: Place, fix: str = "", severity: Severity = ERROR) -> None:
        self.files.problem_at(code, what, self.path, place, fix=fix, severity=severity)

    def read(self, document: Json) -> list[Hook]:
        """The hooks of the file, then those of its packs."""
        if not isinstance(document, dict):
            self.complain("wrong-type", f"the file must hold tables, not {type_name(document)}", ())
            return []
        for number, relaxed in enumerate(self.tables(document, "relax")):
            if self.understood(relaxed, ("relax", number)):
                self.relaxed[number] = relaxed
        self.rules(document)
        used = _many(document.get("use"))
        if "use" in document and not (
            isinstance(document["use"], list) and all(isinstance(name, str) for name in used)
        ):
            self.complain("ignored-value", "`use` must be a list of packs", ("use",), 'Write use = ["git"].')
        for place, name in enumerate(used):
            if isinstance(name, str):
                self.pack(name, ("use", place))
        for number, relaxed in self.relaxed.items():
            if number not in self.relaxing:
                self.names_nothing(str(relaxed["rule"]), ("relax", number, "rule"))
        return numbered(self.hooks)

    def understood(self, relaxed: Mapping[str, Json], place: Place) -> bool:
        """Whether a relaxation can be applied. What is only half understood is not: it could take away more than its
        author wants."""
        for key in relaxed:
            if key not in RELAXED:
                fix = f"Known keys: {', '.join(RELAXED)}.{guess(key, RELAXED)}"
                return self.not_applied(f"it has an unknown key `{key}`", (*place, key), fix)
        wanted, then = relaxed.get("rule"), relaxed.get("then", ACTIONS[0])
        if not isinstance(wanted, str) or not wanted.strip():
            return self.not_applied("it does not say which rule", place, 'Write rule = "git/hard-reset".')
        if then not in ACTIONS:
            fix = f"Actions: {', '.join(ACTIONS)}.{_meant(then, ACTIONS)}"
            return self.not_applied(f"`then` {canonical(then)} is not an action", (*place, "then"), fix)
        projects = relaxed.get("projects", [])
        if not isinstance(projects, list) or not all(isinstance(each, str) and each[:1] == "/" for each in projects):
            fix = 'Write projects = ["/srv/project"].'
            return self.not_applied("`projects` must be a list of whole paths", (*place, "projects"), fix)
        if not isinstance(relaxed.get("enabled", True), bool):
            return self.not_applied("`enabled` must be true or false", (*place, "enabled"), "Write enabled = false.")
        return True

    def not_applied(self, what: str, place: Place, fix: str) -> bool:
        """Report a relaxation that is left out; the rule stays as it was."""
        self.files.problem_at(
            "invalid-relaxation", f"this relaxation is ignored: {what}", self.source.path, place, fix=fix
        )
        return False

    def names_nothing(self, wanted: str, place: Place) -> None:
        pack = wanted.partition("/")[0]
        if f"{pack}.toml" in self.files.names(PACKS) and not any(name.startswith(f"{pack}/") for name in self.known):
            what = f"`{wanted}` is in the pack `{pack}`, which this file does not use; the relaxation does nothing"
            fix = f"Turn the pack on with `anyhook add {pack}`, or remove this [[relax]]."
            self.files.problem_at("unknown-rule", what, self.source.path, place, fix=fix, severity=WARNING)
            return
        known = [name.replace(" ", "-") for name in self.known]
        fix = f"`anyhook guards --rules` lists the rules of packs.{guess(wanted.replace(' ', '-'), known)}"
        self.files.problem_at(
            "unknown-rule", f"there is no rule `{wanted}` in this file or its packs; the relaxation does nothing",
            self.source.path, place, fix=fix,
        )  # fmt: skip

    def pack(self, name: str, place: Place) -> None:
        """The rules of a pack: a shipped one by its name, any other by its path from this file's folder."""
        shipped = "/" not in name
        folder = PACKS if shipped else os.path.dirname(self.source.path)
        path = os.path.normpath(os.path.join(folder, f"{name}.toml" if shipped else name))
        if not shipped and self.source.within and not path.startswith(f"{self.source.within}/"):
            self.complain("unknown-pack", f"`{name}` is outside the policy, so nothing vouches for it", place)
            return
        document = self.files.document(path, "toml")
        if not isinstance(document, dict):
            if self.files.look(path) is None:
                known = [each.removesuffix(".toml") for each in self.files.names(PACKS) if each.endswith(".toml")]
                fix = f"Packs: {', '.join(known)}.{guess(name, known)} {AGAIN}" if shipped else "Correct the path."
                self.complain("unknown-pack", f"there is no pack `{name}`", place, fix)
            return
        if shipped and END not in document:
            what = f"the pack `{name}` is damaged, so none of its rules is used: {path} is empty or has lost its end"
            self.complain("damaged-pack", what, place, AGAIN)
            return
        self.path, self.label = path, os.path.basename(path).removesuffix(".toml")
        self.changed = "" if shipped else self.change_of(name, place)
        if document.get("use"):
            self.complain("unknown-key", "a pack cannot use other packs; `use` is ignored", ("use",), severity=WARNING)
        self.rules(document)
        self.path, self.label, self.changed = self.source.path, "", ""

    def change_of(self, name: str, place: Place) -> str:
        """Why the rules of a package do not count: its files have changed since they were added. "" if they have not,
        and for files outside packages."""
        top, _, rest = os.path.normpath(name).partition("/")
        package, folder = rest.partition("/")[0], os.path.dirname(self.source.path)
        pinned = packages_in(folder, self.files).get(package) if top == FOLDER else {}
        if pinned is None:
            what = f"{LOCK} does not pin the package `{package}`, so a change of it would not be seen"
            fix = "Add it again with `anyhook add`."
            self.files.problem_at("unpinned-package", what, self.source.path, place, fix=fix, severity=WARNING)
            return ""
        changed = changed_files(f"{folder}/{FOLDER}/{package}", pinned, self.files)
        if not changed:
            return ""
        named = ", ".join(changed[:3])
        return f"the package `{package}` has changed since it was added ({named}); see `anyhook guards`"

    def tables(self, document: Mapping[str, Json], key: str) -> list[dict[str, Json]]:
        found = document.get(key, [])
        if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
            # A rule in single brackets still guards; an exception in them is not taken.
            code = "ignored-value" if isinstance(found, dict) or key == "relax" else "wrong-type"
            self.complain(code, f"`{key}` must be a list of tables", (key,), f"Write [[{key}]] above each.")
            found = [] if key == "relax" else _many(found)
        return [each for each in found if isinstance(each, dict)]

    def unknown_keys(self, value: Mapping[str, Json], known: tuple[str, ...], place: Place, owner: str) -> None:
        for key in value:
            if key not in known:
                fix = f"Known keys: {', '.join(known)}.{guess(key, known)}"
                self.complain(
                    "unknown-key", f"{owner} has an unknown key `{key}`; it is ignored", (*place, key), fix, WARNING
                )

    def rules(self, document: dict[str, Json]) -> None:
        self.unknown_keys(document, TOP, (), "the file")
        self.names = names = Names(self.words(document), self.paths(document))
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
            if not right or (name in CLASSES and name != "secrets"):
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
        if name != table.get("name", name):
            self.complain("ignored-value", "`name` must be text", (*place, "name"), 'Write name = "no publishing".')
        given = self.stricter({**table, "name": name}, names, place)
        self.known.append(f"{self.label}/{name}" if self.label else name)
        limit_s, _ = read_limit(given.get("timeout"), self.limits)
        limit_s = limit_s or self.limits.default_s
        try:
            parts = self.parts(given, names, key, function)
            given, parts = self.relax(given, parts, names, key, function)
        except RuleError as error:
            at = (*place, error.key) if error.key in table else place
            wrong = f"`{error.key}`: {error.what}" if error.key else error.what
            self.complain("invalid-rule", f"rule `{name}` cannot be used: {wrong}", at, error.fix)
            self.add(given, [USUAL.get(key, "pre_tool")], {"then": "deny"}, at, limit_s, BROKEN, wrong)
            return
        tree, spared, spec = parts
        events = sorted(events_of(tree, USUAL[key]), key=[*EVENTS].index)
        self.unknown_agents(named_in(tree, "agent"), name, (*place, "agents" if "agents" in table else key))
        if listened := listened_by(tree):
            spec["listens"] = [*listened]
        off = given.get("enabled") is False
        why = "`enabled` is false in its file" if off else ""
        status: HookState = DISABLED if off else "armed"
        self.add(given, events, spec, (*place, key), limit_s, status, why, (tree, needs_of(tree), spared))

    def parts(self, given: Mapping[str, Json], names: Names, key: str, function: str) -> Parts:
        """What a rule is made of; raises RuleError if it cannot be used."""
        tree = self.condition(given, names, key)
        if self.remembered:
            asked = tuple(_parsed(f"earlier ({text})", names, key) for text in self.remembered)
            tree = ("and", (tree, ("asks", asked)))
        spared = tuple(compile_path(path) for path in _list(given, "except"))
        return tree, spared, self.spec(given, function)

    def stricter(self, given: dict[str, Json], names: Names, place: Place) -> dict[str, Json]:
        """The rule without values that cannot be understood, where it guards more without them; they are reported. A
        slip in one of them does not turn a guard off."""
        made = dict(given)
        for key, wrong, fix in _slips(given, names, self.limits):
            self.complain("ignored-value", f"rule `{given['name']}`: `{key}`: {wrong}", (*place, key), fix)
            del made[key]
            if key == "then":
                made = {
                    **{name: value for name, value in made.items() if name not in ("run", "to")},
                    "then": ACTIONS[0],
                }
        return made

    def relax(
        self, given: dict[str, Json], parts: Parts, names: Names, key: str, function: str
    ) -> tuple[dict[str, Json], Parts]:
        """The rule with the file's relaxations. One that it cannot be used with is left out and reported where it
        stands."""
        name = str(given["name"])
        own = (name, _short(name))
        called = (*own, *(f"{self.label}/{each}" for each in own)) if self.label else own
        for number, relaxed in self.relaxed.items():
            if not names_rule(str(relaxed["rule"]), called):
                continue
            self.relaxing.add(number)
            if "projects" in relaxed and not self.is_for(_list(relaxed, "projects")):
                continue
            changed = _relaxed(given, relaxed)
            try:
                given, parts = changed, self.parts(changed, names, key, function)
            except RuleError as error:
                if number not in self.refused:
                    self.refused.add(number)
                    at: Place = ("relax", number, *([error.key] if error.key in relaxed else []))
                    wrong = f"`{error.key}`: {error.what}" if error.key else error.what
                    self.not_applied(f"{wrong} (rule `{name}`)", at, error.fix or "Correct it, or remove it.")
        return given, parts

    def is_for(self, projects: tuple[str, ...]) -> bool:
        """Whether the project that this is read for is one of these, or in one."""
        here = f"{self.source.project}/"
        return bool(self.source.project) and any(here.startswith(f"{each.rstrip('/')}/") for each in projects)

    def unknown_agents(self, names: Iterable[str], rule: str, place: Place) -> None:
        """Agents that anyhook does not know: either a program that embeds it, or a rule that never applies."""
        if not names:
            return
        known = [*dict.fromkeys((*HOSTS, *DIALECTS, *OWN_HOSTS))]
        for name in names:
            if is_plain(name) and name not in known:
                what = f"rule `{rule}` is for the agent `{name}`, which anyhook does not know"
                self.complain("unknown-agent", what, place, f"Agents: {', '.join(HOSTS)}.{guess(name, known)}", WARNING)

    def condition(self, table: Mapping[str, Json], names: Names, key: str) -> Node:
        """The complete condition: `when`, without `unless`, for these agents and tools."""
        _check_types(table)
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
        severity = str(table.get("severity", "medium"))
        condition = next(str(table[key]) for key in USUAL if key in table)
        spec: dict[str, Json] = {"then": then, "severity": severity, "condition": condition}
        if function:
            return {**spec, "function": function, "modules": {**self.modules}}
        for key in ("because", "instead", "run", "to", "env"):
            if key in table:
                spec[key] = table[key]
        if "env" in spec and "run" not in spec:
            raise RuleError("only a command gets variables", "env", 'Add run = "…", or take `env` out.')
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
        used = {} if os.path.dirname(self.path) == PACKS else _used(self.names, table)  # our own packs need no review
        matcher.update(used)
        named: dict[str, Json] = {"names": used} if used else {}
        means = _plain(condition[0]) if condition is not None else None
        self.files.made_hook()
        handler: HandlerKind = "function" if "function" in spec else "command" if "run" in spec else "rule"
        if self.line is not None:
            place = ()  # the line says where it is
        for event in events:
            hook = source.hook(
                f"{owner}:{event}:{_short(name)}", name, event, self.rows[event].canonical, spec, limit_s, place=place,
                matcher=matcher, handler=handler, status=status, why=why, line=self.line,
                definition=canonical({"rule": dict(table), **named, "means": means}), condition=condition,
            )  # fmt: skip
            self.hooks.append(hook)


def _used(names: Names, table: Mapping[str, Json]) -> dict[str, Json]:
    """What the conditions of a rule name that its file defines."""
    text = " ".join(str(table.get(key, "")) for key in (*USUAL, "unless"))
    defined: dict[str, Json] = {f"${name}": said for name, said in names.words.items()}
    defined.update((f"@{name}", [*listed]) for name, listed in names.paths.items())
    return {name: said for name, said in defined.items() if re.search(rf"{re.escape(name)}(?!\w)", text)}


def _parsed(text: str, names: Names, key: str) -> Node:
    try:
        return parse(text, names)
    except BadCondition as error:
        raise RuleError(f"column {error.column}: {error.what}", key, error.fix) from None


def _check_types(table: Mapping[str, Json]) -> None:
    for each in (*TEXTS_OF_A_RULE, *LISTS):
        kinds = (str, list) if each == "unless" else (list,) if each in LISTS else (str,)
        if each in table and not isinstance(table[each], kinds):
            wanted = "a list of texts" if each in LISTS else "text"
            raise RuleError(f"it must be {wanted}, not {type_name(table[each])}", each)


def _check_action(then: str, spec: Mapping[str, Json]) -> None:
    run, to = spec.get("run"), spec.get("to")
    if then == "run" and run is None:
        raise RuleError("it has nothing to run", "then", 'Add run = "…".')
    if run is not None and then not in RUNNING:
        raise RuleError(f"a command cannot {then}", "run", f"With `run`, `then` is one of {', '.join(RUNNING)}.")
    if (then == "rewrite") != (to is not None):
        key = ("then", "to")[to is not None]
        fix = 'Write then = "rewrite" and to = "{command} --dry-run".'
        raise RuleError("`rewrite` and `to` belong together", key, fix)
    if to is not None and not isinstance(to, str) and not (isinstance(to, dict) and to):
        raise RuleError("it must be the new command, or a table of input fields", "to")
    if then in ("warn", "context") and run is None and not spec.get("because"):
        raise RuleError(f"`{then}` needs a text", "then", 'Add because = "…".')
    _check_templates(spec)


def _check_templates(spec: Mapping[str, Json]) -> None:
    for key in ("run", "because", "instead", "to"):
        text = spec.get(key)
        for each in text.values() if isinstance(text, dict) else [text]:
            if isinstance(each, str) and (wrong := wrong_template(each, quoted=key == "run")):
                raise RuleError(wrong, key)


def _is_text(value: Json) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _slips(given: Mapping[str, Json], names: Names, limits: Limits) -> Iterator[tuple[str, str, str]]:
    """The values that cannot be understood and that a rule guards more without: key, what is wrong, and the fix."""
    for key in LISTS:
        listed = given.get(key, [])
        if not (isinstance(listed, list) and all(map(_is_text, listed))):
            yield key, f"it must be a list of texts, not {type_name(listed)}", f'Write {key} = ["…"].'
    for key in ("because", "instead", "run"):
        if not _is_text(given.get(key, key)):
            yield key, f"it must be text, not {canonical(given[key])}", f'Write {key} = "…".'
    for key, words, name in (("then", ACTIONS, "an action; the rule denies"), ("severity", SEVERITIES, "a severity")):
        if key in given and given[key] not in words:
            fix = f"One of {', '.join(words)}.{_meant(given[key], words)}"
            yield key, f"{canonical(given[key])} is not {name}", fix
    if not isinstance(given.get("enabled", True), bool):
        yield "enabled", "it must be true or false", "Write enabled = false."
    _, complaint = read_limit(given.get("timeout"), limits)
    if complaint:
        yield "timeout", complaint, "Give seconds."
    try:
        for other in _list(given, "unless"):
            _parsed(other, names, "unless")
    except RuleError as error:
        yield "unless", error.what, error.fix


def _meant(word: Json, known: Sequence[str]) -> str:
    """A guess. All outputs call a refusal `block`, so that is what people write."""
    return guess("deny" if word == "block" else str(word), known)


def _relaxed(table: dict[str, Json], relaxed: Mapping[str, Json]) -> dict[str, Json]:
    """A rule with one relaxation applied."""
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
    keys: dict[str, Json] = {
        **dict.fromkeys(TEXTS_OF_A_RULE, TEXT),
        **dict.fromkeys(LISTS, TEXTS),
        "then": {"enum": list(ACTIONS)},
        "severity": {"enum": list(SEVERITIES)},
        "to": {"anyOf": [TEXT, {"type": "object", "minProperties": 1}]},
        "timeout": NUMBER,
        "enabled": {"type": "boolean"},
    }
    rule = described(keys, [])
    rule["oneOf"] = [{"required": [key]} for key in USUAL]
    relaxed = {**{key: keys[key] for key in RELAXED if key in keys}, "rule": TEXT, "projects": TEXTS}
    top: dict[str, Json] = {
        "rule": {"type": "array", "items": rule},
        "relax": {"type": "array", "items": described(relaxed, ["rule"])},
        "use": TEXTS,
        "words": {"type": "object", "additionalProperties": TEXT},
        "paths": {"type": "object", "additionalProperties": TEXTS},
        "pack": {"type": "object"},
        "$schema": TEXT,
    }
    return described(top, [])
