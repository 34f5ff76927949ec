"""Kimi's Agent Hooks: a folder per hook with `HOOK.md` and `scripts/run*`; priorities, background hooks, fail-open."""

from __future__ import annotations

from anyhook.grammar import documents
from anyhook.grammar.cells import local_time, native_name, project, session
from anyhook.grammar.commands import check_pattern
from anyhook.grammar.matchers import tool_and_content
from anyhook.grammar.readers import object_or_text
from anyhook.grammar.rows import (
    Dialect,
    EventRow,
    Failing,
    Field,
    Key,
    Launch,
    Limits,
    Misplaced,
    Reply,
    Roots,
    Scaffold,
    Scene,
)
from anyhook.grammar.shapes import canonical, guess, numbered, read_limit, slug, type_name
from anyhook.model.hook import BROKEN, Hook, Layer, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.grammar.files import Files
    from anyhook.model.json_types import Json

TOOL = (Field("tool_name", "tool"), Field("tool_input", "input"), Field("tool_use_id", "call_id"))
RESULT = (Field("tool_output", "output"), Field("error", "tool_error"), Field("duration_ms", "duration_ms"))
AGENT = (
    Field("subagent_name", "agent_name"),
    Field("subagent_type", "agent_type"),
    Field("task_description", "task"),
)


def _arguments(_scene: Scene) -> Json:
    return {}


EVENTS = (
    EventRow("session_start", ("session_start",), "abort", (Field("model", "model"), Field("args", _arguments))),
    EventRow(
        "session_end",
        ("session_end",),
        "advisory",
        (Field("duration_seconds", "duration_s"), Field("total_steps", "step_count"), Field("exit_reason", "reason")),
    ),
    EventRow("before_agent", ("turn_start",), "end_turn", (Field("prompt", "prompt"),)),
    EventRow("after_agent", ("turn_end",), "feedback", (Field("final_message", "final_message"),)),
    EventRow("before_tool", ("pre_tool",), "deny_tool", TOOL, "tool"),
    EventRow("after_tool", ("post_tool",), "feedback", (*TOOL, *RESULT), "tool"),
    EventRow("after_tool_failure", ("post_tool_failure",), "feedback", (*TOOL, *RESULT), "tool"),
    EventRow("subagent_start", ("subagent_start",), "skip", AGENT),
    EventRow("subagent_stop", ("subagent_stop",), "keep_working", (*AGENT, Field("result", "result"))),
    EventRow("pre_compact", ("pre_compact",), "skip", (Field("trigger", "trigger"),)),
    EventRow(
        "before_stop",
        ("stop",),
        "keep_working",
        (
            Field("stop_reason", "stop_reason"),
            Field("step_count", "step_count"),
            Field("final_message", "final_message"),
        ),
        notice="[Hook blocked stop: {reason}]",
    ),
)
ROWS = {row.native: row for row in EVENTS}
KNOWN = ("name", "description", "trigger", "matcher", "timeout", "async", "async_", "priority", "metadata")
ENTRY_POINTS = ("scripts/run", "scripts/run.sh", "scripts/run.py")
LIMITS = {"command": Limits(default_s=30.0, unit_s=0.001, least_s=0.1, most_s=600.0)}
FOLDER_FILES = 2000
"""How many files and folders of one hook an approval pins; a hook with more cannot be approved."""


def find(roots: Roots) -> list[Source]:
    user = roots.xdg("XDG_CONFIG_HOME", ".config") + "/agents/hooks"
    return [
        Source("agenthooks", "user", user, user),
        Source("agenthooks", "project", f"{roots.project}/.agents/hooks", roots.project),
    ]


def load(source: Source, files: Files) -> Layer:
    by_name: dict[str, Hook] = {}
    for folder in files.names(source.path):
        path = f"{source.path}/{folder}/HOOK.md"
        text = files.text(path)
        front = None if text is None else _front_matter(path, text, files)
        if front is None:
            continue
        hook = _HookFile(source, folder, path, files).read(front)
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


def claim(path: str, document: Json) -> tuple[str, int]:
    return path.rsplit("/", 2)[0], 3 * path.endswith("/HOOK.md")


def _front_matter(path: str, text: str, files: Files) -> dict[str, Json] | None:
    try:
        split = documents.split_front_matter(text)
    except documents.Unreadable as error:
        files.problem("no-front-matter", error.what, path, fix=error.fix)
        return None
    if split is None:
        files.problem(
            "no-front-matter", "the file has no front matter", path, fix="Begin it with `---`, fields, `---`."
        )
        return None
    yaml_text, offset = split
    try:
        value = documents.parse_yaml(yaml_text)
    except documents.Unreadable as error:
        mended = documents.mend_backslashes(yaml_text)
        value = None if mended == yaml_text else files.parse(path, mended, "yaml", offset)
        line = (error.line or 0) + offset
        if value is None:
            if mended == yaml_text:
                files.problem("invalid-yaml", error.what, f"{path}:{line}", fix=error.fix)
            return None
        files.problem(
            "yaml-backslash",
            "a backslash in double quotes is no valid YAML; it is read as written",
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


class _HookFile:
    """Reads one front matter, field by field."""

    def __init__(self, source: Source, folder: str, path: str, files: Files) -> None:
        self.source, self.folder, self.path, self.files = source, folder, path, files

    def say(self, code: str, what: str, key: str, fix: str, severity: str = "warning") -> None:
        self.files.problem_at(code, what, self.path, (key,) if key else (), fix=fix, severity=severity)

    def read(self, front: dict[str, Json]) -> Hook | None:
        name, trigger = front.get("name"), front.get("trigger")
        if not isinstance(name, str) or not name.strip():
            self.say("missing-key", "a hook needs a `name`; it is ignored", "name", "Add `name: …`.", "error")
            return None
        if not isinstance(trigger, str) or trigger not in ROWS:
            what = f"`trigger` {canonical(trigger)} is no event; the hook is ignored"
            self.say(
                "unknown-event", what, "trigger", f"Events: {', '.join(ROWS)}.{guess(str(trigger), ROWS)}", "error"
            )
            return None
        self.look_over(front, name, trigger)
        matcher, why = self.matcher(front.get("matcher"), trigger)
        limit_s, complaint = read_limit(front.get("timeout"), LIMITS["command"])
        if complaint:
            self.say("wrong-limit", f"`timeout`: {complaint}; {limit_s:g} s apply", "timeout", "Give 100 to 600000 ms.")
        background = self.background(front, trigger)
        folder = f"{self.source.path}/{self.folder}"
        return Hook(
            id=f"agenthooks:{self.source.scope}:{slug(name)}",
            name=name,
            dialect="agenthooks",
            scope=self.source.scope,
            source=self.path,
            place=(),
            root=folder,
            label="",
            native_event=trigger,
            events=ROWS[trigger].canonical,
            matcher=matcher,
            handler="command",
            spec={"entry": self.entry_point(folder)},
            limit_s=limit_s or LIMITS["command"].default_s,
            background=background,
            priority=self.priority(front.get("priority")),
            definition=canonical(front),
            status=BROKEN if why else "armed",
            why=why,
        )

    def look_over(self, front: dict[str, Json], name: str, trigger: str) -> None:
        for key in front:
            if key not in KNOWN:
                likely = "" if self.files.full(self.path) else guess(key, KNOWN)
                self.say(
                    "unknown-key", f"unknown field `{key}`; it is ignored", key, f"Fields: {', '.join(KNOWN)}.{likely}"
                )
        if len(name) > 64:
            self.say("wrong-value", "`name` is longer than 64 characters", "name", "Shorten it.")
        description = front.get("description")
        if not isinstance(description, str) or not description:
            self.say("missing-key", "a hook should have a `description`", "description", "Add `description: …`.")
        elif len(description) > 1024:
            self.say("wrong-value", "`description` is longer than 1024 characters", "description", "Shorten it.")
        if front.get("matcher") and ROWS[trigger].target is None:
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
        if value and ROWS[trigger].block in ("deny_tool", "abort", "skip", "keep_working", "end_turn"):
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

    def entry_point(self, folder: str) -> str:
        for entry in ENTRY_POINTS:
            if self.files.look(f"{folder}/{entry}") is not None:
                return entry
        self.say("no-entry-point", "the hook has no script", "", f"Add one of {', '.join(ENTRY_POINTS)}.", "error")
        return ""


def launch(hook: Hook, scene: Scene) -> Launch:
    import os

    entry = str(hook.spec["entry"])
    path = f"{hook.root}/{entry}"
    env = {
        **scene.env,
        "KIMI_SESSION_ID": scene.session,
        "KIMI_WORK_DIR": scene.project,
        "KIMI_PROJECT_DIR": scene.project,
        "KIMI_HOOK_DIR": hook.root,
    }
    cwd = hook.root if scene.settings.get("cwd") == "hook" else scene.project
    if not entry:
        return Launch((), env, cwd, missing=f"there is no script: none of {', '.join(ENTRY_POINTS)} in {hook.root}")
    if os.access(path, os.X_OK) or entry == "scripts/run":
        return Launch((path,), env, cwd)
    return Launch(("bash" if entry.endswith(".sh") else "python3", path), env, cwd)


def names(hook: Hook, files: Files, project_dir: str, home: str) -> tuple[str, ...]:
    """Every file of the hook's folder: scripts read each other. The folder itself, which no approval can pin, where
    there are too many to look at."""
    found: list[str] = []
    folders = [hook.root]
    for folder in folders:  # grows while it is walked
        for name in files.names(folder):
            path = f"{folder}/{name}"
            if files.is_folder(path):
                if name != ".git":
                    folders.append(path)
            elif not folder.endswith("/__pycache__") or _stands_alone(path, files):
                found.append(path)
        if len(found) + len(folders) > FOLDER_FILES:
            return (hook.root,)
    return tuple(found)


def _stands_alone(path: str, files: Files) -> bool:
    """Whether Python would run this compiled file whatever its source says. What Python itself leaves behind it
    compares with the source first, and it comes and goes with every run."""
    head = files.fingerprint(path).head
    return len(head) < 8 or head[4] & 0b11 == 0b01


def sort(hook: Hook) -> tuple[Json, ...]:
    folder = hook.source.rsplit("/", 2)[-2]
    return (hook.background, -(hook.priority or 0), hook.scope != "user", folder, hook.name)


REPLY = Reply(
    read=object_or_text,
    exits={0: "pass", 2: "block"},
    json_reasons=("reason", "stderr"),
    keys=(
        Key(
            ("decision",),
            "string",
            "verdict",
            words=(
                ("allow", "allow", ()),
                ("deny", "block", ()),
                ("ask", "block", ("stop",)),
                ("ask", "ask", ("pre_tool",)),
            ),
        ),
        Key(("reason",), "string", "reason"),
        Key(("modified_input",), "object", "tool_input", on=("pre_tool",)),
        Key(("additional_context",), "string", "context"),
    ),
)

SCAFFOLD = Scaffold(
    shape="folder",
    scripts={"project": "{path}/{name}/scripts", "user": "{path}/{name}/scripts"},
    declared_in=("HOOK.md",),
    log="../../..",
    tool="Shell",
)

DIALECT = Dialect(
    name="agenthooks",
    title="Agent Hooks (Kimi)",
    files=(("user", "~/.config/agents/hooks/<name>/HOOK.md"), ("project", ".agents/hooks/<name>/HOOK.md")),
    find=find,
    claim=claim,
    misplaced=(
        Misplaced("{project}/.agents/hooks/HOOK.md", ".agents/hooks/<name>/HOOK.md"),
        Misplaced("{project}/.agents/HOOK.md", ".agents/hooks/<name>/HOOK.md"),
        Misplaced("{project}/.agents/hooks/*/hook.md", ".agents/hooks/<name>/HOOK.md, in capitals"),
        Misplaced("{project}/.agents/hooks/*/Hook.md", ".agents/hooks/<name>/HOOK.md, in capitals"),
        Misplaced("{project}/.agents/hooks/*/*/HOOK.md", ".agents/hooks/<name>/HOOK.md, one level higher"),
        Misplaced("{project}/.agents/hooks/*/*/*/HOOK.md", ".agents/hooks/<name>/HOOK.md, two levels higher"),
        Misplaced("{project}/.agents/hook/*/HOOK.md", ".agents/hooks/<name>/HOOK.md"),
        Misplaced("{config}/agents/hooks/HOOK.md", "~/.config/agents/hooks/<name>/HOOK.md"),
        Misplaced("{config}/agents/hooks/*/hook.md", "~/.config/agents/hooks/<name>/HOOK.md, in capitals"),
        Misplaced("{config}/agents/hooks/*/*/HOOK.md", "~/.config/agents/hooks/<name>/HOOK.md, one level higher"),
        Misplaced("{home}/.agents/hooks/*/HOOK.md", "~/.config/agents/hooks/<name>/HOOK.md"),
        Misplaced("{home}/.config/agents/hooks/*/HOOK.md", "$XDG_CONFIG_HOME/agents/hooks/<name>/HOOK.md"),
    ),
    load=load,
    layering="later_name_wins",
    events=EVENTS,
    base=(
        Field("event_type", native_name),
        Field("timestamp", local_time),
        Field("session_id", session),
        Field("work_dir", project),
    ),
    match=tool_and_content,
    launch=launch,
    names=names,
    scaffold=SCAFFOLD,
    replies={"command": REPLY},
    failing=Failing(),
    limits=LIMITS,
    chains=("input",),
    sort=sort,
    settings={"cwd": ("work_dir", "hook")},
    differences=(
        ("A-16", "All eleven documented events fire and can block; the branch behind the document fired five."),
        ("A-29", "`modified_input` is applied, and later hooks see it; the branch read it and dropped it."),
        ("Ab", "`matcher.pattern` is tried against each text of the input and against the whole."),
        (
            "Af",
            'Scripts run in the project; `cwd = "hook"` in the config runs them in their own folder, '
            "which `KIMI_HOOK_DIR` names.",
        ),
        ("At", "An invalid pattern disables its own hook only."),
        ("A-35", "A background hook is bound by its time limit as well."),
    ),
)
