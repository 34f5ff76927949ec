"""Folders: hooks that are a folder each, declared in the front matter of a text file. It is read field by field; one
bad field is a problem, and nothing here knows a product."""

from __future__ import annotations

from anyhook.documents.parse import escape_backslashes, split_front_matter
from anyhook.documents.read import Unreadable
from anyhook.model.hook import BROKEN, Hook, Layer, Source
from anyhook.model.outcome import STOPPING
from anyhook.model.record import Record
from anyhook.tables.isolation import one_file
from anyhook.tables.patterns import check_pattern
from anyhook.tables.shapes import canonical, guess, numbered, read_limit, slug, type_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.documents.files import Files
    from anyhook.model.json_types import Json
    from anyhook.model.words import Severity
    from anyhook.tables.rows import EventRow, Limits


class FolderShape(Record):
    """What the loader needs to know about a dialect's folders."""

    declared_in: str
    events: tuple[EventRow, ...]
    keys: tuple[str, ...]
    entry_points: tuple[str, ...]
    """Scripts; the first existing one counts."""
    limits: Limits


def load_folders(source: Source, files: Files, shape: FolderShape) -> Layer:
    """Every folder of a source that has a declaration; the last of equal names counts."""
    by_name: dict[str, Hook] = {}
    for folder in files.names(source.path):
        path = f"{source.path}/{folder}/{shape.declared_in}"
        hook = None
        with one_file(files, source, path):
            hook = _of_folder(source, folder, path, files, shape)
        if hook is None:
            continue
        if hook.name in by_name:
            files.problem(
                "same-name",
                f"a later folder has the same name `{hook.name}`; this one is ignored",
                by_name[hook.name].source,
                fix="Give each hook its own name.",
                severity="warning",
            )
        by_name[hook.name] = hook
    return Layer(source, tuple(numbered(list(by_name.values()))))


def _of_folder(source: Source, folder: str, path: str, files: Files, shape: FolderShape) -> Hook | None:
    text = files.text(path)
    front = None if text is None else _front_matter(path, text, files)
    return None if front is None else _Declaration(source, folder, files, shape).read(front)


def _front_matter(path: str, text: str, files: Files) -> dict[str, Json] | None:
    try:
        split = split_front_matter(text)
    except Unreadable as error:
        files.problem("no-front-matter", error.what, path, fix=error.fix)
        return None
    if split is None:
        files.problem(
            "no-front-matter", "the file has no front matter", path, fix="Begin it with `---`, fields, `---`."
        )
        return None
    yaml_text, offset = split
    try:
        value = files.yaml(yaml_text)
    except Unreadable as error:
        escaped = escape_backslashes(yaml_text)
        value = None if escaped == yaml_text else files.parse(path, escaped, "yaml", offset)
        line = (error.line or 0) + offset
        if value is None:
            if escaped == yaml_text:
                files.problem("invalid-yaml", error.what, f"{path}:{line}", fix=error.fix)
            return None
        files.problem(
            "yaml-backslash",
            "a backslash in double quotes is not valid YAML; it is read as written",
            f"{path}:{line}",
            error.what,
            "Use single quotes around patterns.",
            "warning",
        )
    if not isinstance(value, dict):
        files.problem(
            "wrong-type", f"the front matter must be fields, not {type_name(value)}", path, fix="Write `name: …`."
        )
        return None
    return value


class _Declaration:
    """Reads one front matter, field by field."""

    def __init__(self, source: Source, folder: str, files: Files, shape: FolderShape) -> None:
        self.source, self.files, self.shape = source, files, shape
        self.folder = f"{source.path}/{folder}"
        self.path = f"{self.folder}/{shape.declared_in}"
        self.rows = {row.native: row for row in shape.events}

    def say(self, code: str, what: str, key: str, fix: str, severity: Severity = "warning") -> None:
        self.files.problem_at(code, what, self.path, (key,) if key else (), fix=fix, severity=severity)

    def read(self, front: dict[str, Json]) -> Hook | None:
        name, trigger = front.get("name"), front.get("trigger")
        if not isinstance(name, str) or not name.strip():
            self.say("missing-key", "a hook needs a `name`; it is ignored", "name", "Add `name: …`.", "error")
            return None
        if not isinstance(trigger, str) or trigger not in self.rows:
            what = f"`trigger` {canonical(trigger)} is not an event; the hook is ignored"
            self.say(
                "unknown-event",
                what,
                "trigger",
                f"Events: {', '.join(self.rows)}.{guess(str(trigger), self.rows)}",
                "error",
            )
            return None
        self.look_over(front, name, trigger)
        matcher, why = self.matcher(front.get("matcher"), trigger)
        limit_s, complaint = read_limit(front.get("timeout"), self.shape.limits)
        if complaint:
            self.say("wrong-limit", f"`timeout`: {complaint}; {limit_s:g} s apply", "timeout", "Give 100 to 600000 ms.")
        background = self.background(front, trigger)
        self.files.made_hook()
        return self.source.replace(path=self.path, root=self.folder, label="").hook(
            f"{self.source.scope}:{slug(name)}",
            name,
            trigger,
            self.rows[trigger].canonical,
            {"entry": self.entry_point()},
            limit_s or self.shape.limits.default_s,
            matcher=matcher,
            background=background,
            priority=self.priority(front.get("priority")),
            definition=canonical(front),
            status=BROKEN if why else "armed",
            why=why,
        )

    def look_over(self, front: dict[str, Json], name: str, trigger: str) -> None:
        for key in front:
            if key not in self.shape.keys:
                likely = "" if self.files.full(self.path) else guess(key, self.shape.keys)
                self.say(
                    "unknown-key",
                    f"unknown field `{key}`; it is ignored",
                    key,
                    f"Fields: {', '.join(self.shape.keys)}.{likely}",
                )
        if len(name) > 64:
            self.say("wrong-value", "`name` is longer than 64 characters", "name", "Shorten it.")
        description = front.get("description")
        if not isinstance(description, str) or not description:
            self.say("missing-key", "a hook should have a `description`", "description", "Add `description: …`.")
        elif len(description) > 1024:
            self.say("wrong-value", "`description` is longer than 1024 characters", "description", "Shorten it.")
        given = front.get("matcher")
        wants = any(given.values()) if isinstance(given, dict) else given
        if wants and self.rows[trigger].target is None:
            self.say(
                "matcher-never-matches",
                f"matchers apply to tool events only, so this hook never runs on {trigger}",
                "matcher",
                "Remove the matcher.",
            )

    def matcher(self, value: Json, trigger: str) -> tuple[Json, str]:
        """The matcher, and why the hook cannot run with it ("" if it can)."""
        if value is None:
            return None, ""
        if not isinstance(value, dict):
            why = f"`matcher` must be fields `tool` and `pattern`, not {type_name(value)}"
            self.say(
                "invalid-matcher",
                f"{why}; the hook cannot run",
                "matcher",
                "Write `matcher:` with `tool:` below.",
                "error",
            )
            return value, why
        for key, pattern in value.items():
            if key not in ("tool", "pattern"):
                self.say(
                    "unknown-key", f"unknown matcher field `{key}`; it is ignored", "matcher", "Fields: tool, pattern."
                )
                continue
            wrong = check_pattern(pattern)
            if wrong:
                self.say(
                    "invalid-matcher", f"matcher.{key}: {wrong}; the hook cannot run", "matcher", "Correct it.", "error"
                )
                return value, wrong
            if isinstance(pattern, str) and "\b" in pattern:
                self.say(
                    "yaml-backslash",
                    f"matcher.{key}: YAML reads `\\b` between double quotes as a backspace, which no tool has",
                    "matcher",
                    "Use single quotes around patterns.",
                )
        return value, ""

    def background(self, front: dict[str, Json], trigger: str) -> bool:
        value = front.get("async", front.get("async_", False))
        if not isinstance(value, bool):
            self.say(
                "wrong-type",
                f"`async` must be true or false, not {canonical(value)}; false applies",
                "async",
                "Correct it.",
            )
            return False
        if value and self.rows[trigger].block in STOPPING:
            self.say(
                "async-gate",
                f"an async hook can never block, and {trigger} is there to block",
                "async",
                "Remove `async: true`.",
            )
        return value

    def priority(self, value: Json) -> int:
        if value is None:
            return 100
        if isinstance(value, bool) or not isinstance(value, int):
            self.say(
                "wrong-type",
                f"`priority` must be a whole number, not {canonical(value)}; 100 applies",
                "priority",
                "Correct it.",
            )
            return 100
        kept = min(max(value, 0), 1000)
        if kept != value:
            self.say(
                "wrong-value", f"`priority` {value} is outside 0 to 1000; {kept} applies", "priority", "Correct it."
            )
        return kept

    def entry_point(self) -> str:
        for entry in self.shape.entry_points:
            if self.files.look(f"{self.folder}/{entry}") is not None:
                return entry
        self.say(
            "no-entry-point", "the hook has no script", "", f"Add one of {', '.join(self.shape.entry_points)}.", "error"
        )
        return ""
