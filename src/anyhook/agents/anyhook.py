"""anyhook's own dialect: rules over facts, in `.anyhook/hooks.toml`. The engine evaluates them itself, so they start no
process; a rule with `run` starts its command."""

from __future__ import annotations

from anyhook.documents.managed import SCOPE, believed, managed_dir
from anyhook.model.event import EVENTS as CANONICAL
from anyhook.programs.commands import SHELL
from anyhook.rules.wildcards import any_like
from anyhook.tables.rows import BLOCKS
from anyhook.tables.vocabulary import *

TOOL = fields(tool="tool", input="input")
RESULT = (*TOOL, Field("output", "output"), Field("error", "tool_error", optional=True))
RARE = {
    "stop_failure": ("error", "error_details"),
    "setup": ("trigger",),
    "user_prompt_expansion": ("prompt", "expansion_type", "command_name", "command_args", "command_source"),
    "instructions_loaded": ("file_path", "memory_type", "load_reason"),
    "message_display": ("message", "turn_id", "message_id", "index", "final"),
    "permission_denied": ("tool", "input", "reason"),
    "post_tool_batch": ("tool_calls",),
    "elicitation": ("mcp_server_name", "message", "requested_schema"),
    "elicitation_result": ("mcp_server_name", "action", "input"),
    "task_created": ("task_id", "task_subject", "task_description"),
    "task_completed": ("task_id", "task_subject", "task_description"),
    "teammate_idle": ("teammate_name", "team_name"),
    "pre_model_switch": ("from_model", "to_model", "source"),
    "post_model_switch": ("from_model", "to_model", "source"),
    "config_change": ("source", "file_path"),
    "cwd_changed": ("old_cwd", "new_cwd"),
    "directory_added": ("directory", "source"),
    "file_changed": ("file_path", "change"),
    "worktree_create": ("worktree_name",),
    "worktree_remove": ("worktree_path",),
}
"""Events that only one or two agents have: what a command reads."""
PAYLOADS: dict[str, tuple[Field, ...]] = {
    "session_start": fields(source="source"),
    "session_end": fields(reason="reason"),
    "user_prompt_submit": fields(prompt="prompt"),
    "turn_start": fields(prompt="prompt"),
    "pre_tool": TOOL,
    "permission_request": TOOL,
    "post_tool": RESULT,
    "post_tool_failure": RESULT,
    "notification": fields(message="message", notification_type="notification_type"),
    "subagent_start": fields(agent="agent_type"),
    "subagent_stop": fields(agent="agent_type"),
    "pre_compact": fields(trigger="trigger"),
    "post_compact": fields(trigger="trigger"),
    "stop": fields(stop_reason="stop_reason"),
    **{name: tuple(Field(field, field) for field in fields) for name, fields in RARE.items()},
}
EVENTS = tuple(
    EventRow(
        name,
        (name,),
        BLOCKS.get(name, "advisory"),
        PAYLOADS.get(name, ()),
        "tool" if "tool" in fields else None,
        bound=3 if BLOCKS.get(name) == "keep_working" else 0,
    )
    for name, fields in CANONICAL.items()
)
LIMITS = dict.fromkeys(("command", "function"), Limits(default_s=60.0, max_s=600.0))
FILE, FUNCTIONS, FOLDER = "hooks.toml", "hooks.py", ".anyhook"


def find(roots: Roots) -> list[Source]:
    user = roots.xdg("XDG_CONFIG_HOME", ".config") + "/anyhook"
    managed = managed_dir(roots.env)
    return [
        Source("anyhook", SCOPE, f"{managed}/{FILE}", managed),
        Source("anyhook", SCOPE, f"{managed}/{FUNCTIONS}", managed),
        Source("anyhook", "user", f"{user}/{FILE}", user, project=roots.project),
        Source("anyhook", "user", f"{user}/{FUNCTIONS}", user),
        Source("anyhook", "project", f"{roots.project}/{FOLDER}/{FILE}", roots.project),
        Source("anyhook", "project", f"{roots.project}/{FOLDER}/{FUNCTIONS}", roots.project),
    ]


def load(source: Source, files: Files) -> Layer:
    if source.scope == SCOPE and not believed(source.path, files):
        return Layer(source, ())
    if source.path.endswith(FUNCTIONS):
        text = files.text(source.path)
        if text is None:
            return Layer(source, ())
        from anyhook.rules.function_file import FunctionFile

        return Layer(source, tuple(FunctionFile(source, files, EVENTS, LIMITS["function"]).read_source(text)))
    document = files.document(source.path, "toml")
    if document is None:
        return Layer(source, ())
    from anyhook.rules.rule_file import RuleFile

    return Layer(source, tuple(RuleFile(source, files, EVENTS, LIMITS["command"]).read(document)))


def schema() -> dict[str, Json]:
    from anyhook.rules.rule_file import rule_schema

    return rule_schema()


def claim(path: str, document: Json) -> tuple[str, int]:
    rules = isinstance(document, dict) and isinstance(document.get("rule"), list)
    if path.endswith(tuple(f"/{folder}/{name}" for folder in (FOLDER, "anyhook") for name in (FILE, FUNCTIONS))):
        return path, 3
    return path, 3 * (rules and path.endswith(".toml"))


def match(hook: Hook, event: Event, _row: EventRow) -> str | None:
    """Whether a rule is for this tool at all; its condition is evaluated later, with the facts of the call."""
    wanted = hook.matcher.get("tool") if isinstance(hook.matcher, dict) else None
    if not isinstance(wanted, str) or any_like(tuple(wanted.split("|")), str(event.data.get("tool"))):
        return None
    return f"it is for the tools {wanted.replace('|', ', ')}"


WRAPPED = {
    "run": "(\n{}\n) >&2",
    "deny": "(\n{}\n) >&2 || exit 2",
    "context": "(\n{}\n) 2>&1\nexit 0",
}
"""What happens to a command's output and status, by its rule's action."""


def launch(hook: Hook, scene: Scene) -> Launch:
    """`line` is the command with the values of this call, once they are known."""
    line = str(hook.spec.get("line") or hook.spec["run"])
    env = {**scene.env, "ANYHOOK_PROJECT": scene.project}
    return Launch((SHELL, "-c", WRAPPED[str(hook.spec["then"])].format(line)), env, scene.project)


def names(hook: Hook, files: Files, project_dir: str, home: str) -> tuple[str, ...]:
    if hook.handler == "function":
        modules = hook.spec.get("modules")
        return (hook.source, *(str(path) for path in (modules if isinstance(modules, dict) else {}).values()))
    if hook.handler != "command":
        return ()
    from anyhook.programs.loose import words_read
    from anyhook.programs.named import named_files

    return named_files(words_read(str(hook.spec["run"])), project_dir, home, {}, files)


def sort(hook: Hook) -> tuple[Json, ...]:
    """Rewrites first, so that every other rule sees the form that will run."""
    return (hook.spec.get("then") != "rewrite",)


def answered(run: Run) -> Run:
    """A function that ends its process before it has answered has failed."""
    return run if run.stdout.strip() else run.replace(stdout=b'{"unanswered": true}')


def unanswered(answer: dict[str, Json], _event: str) -> str:
    return "it ended before it answered" if "unanswered" in answer else ""


SCAFFOLD = Scaffold(shape="rules", scripts={}, tool="Bash")

DIALECT = Dialect(
    name="anyhook",
    title="anyhook rules",
    no_host="It is anyhook's own format. It does not belong to an agent, and its hooks run in all of them.",
    files=(
        ("managed", "/etc/anyhook/hooks.toml, hooks.py"),
        ("user", "~/.config/anyhook/hooks.toml, hooks.py"),
        ("project", ".anyhook/hooks.toml, hooks.py"),
    ),
    find=find,
    claim=claim,
    misplaced=(
        Misplaced("{project}/hooks.toml", ".anyhook/hooks.toml", "[[rule]]"),
        Misplaced("{project}/.anyhook/rules.toml", ".anyhook/hooks.toml"),
        Misplaced("{project}/.anyhook/hook.toml", ".anyhook/hooks.toml"),
        Misplaced("{home}/.anyhook/hooks.toml", "~/.config/anyhook/hooks.toml", "[[rule]]"),
        Misplaced("{config}/anyhook/rules.toml", "~/.config/anyhook/hooks.toml"),
        Misplaced("{config}/anyhook/config.toml", "~/.config/anyhook/hooks.toml", "[[rule]]"),
    ),
    load=load,
    variables=("ANYHOOK_MANAGED_DIR",),
    schema=schema,
    events=EVENTS,
    base=fields(event=native_name, session=session, project=project),
    match=match,
    launch=launch,
    names=names,
    scaffold=SCAFFOLD,
    replies={
        "rule": Reply(read=object_or_text, keys=()),
        "function": Reply(
            read=whole_object,
            streams=answered,
            spoils=unanswered,
            keys=(
                Key(("verdict",), "string", "verdict", words=(("deny", "block", ()), ("ask", "ask", ()))),
                Key(("reason",), "string", "reason"),
                Key(("context",), "string", "context"),
                Key(("message",), "string", "messages"),
                Key(("input",), "object", "tool_input", on=("pre_tool", "permission_request")),
            ),
        ),
        "command": Reply(
            read=object_or_text, keys=(), exits={0: "pass", 2: "block"}, exit_reasons=("stderr", "stdout")
        ),
    },
    failing=Failing(blocks=("exit", "timed_out", "signalled", "overflowed", "output")),
    limits=LIMITS,
    chains=("input",),
    sort=sort,
)


def sample() -> Sample:
    from anyhook.tables.sample_rows import REASON, Sample

    rule = f'[[rule]]\nname = "guard"\nwhen = "runs echo hi"\nthen = "deny"\nbecause = "{REASON}"\n'
    return Sample(event="pre_tool", files={f"{FOLDER}/{FILE}": rule}, tool="Bash")
