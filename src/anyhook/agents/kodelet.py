"""Kodelet: executables that name their own type, are called with `run`, and block only by JSON; failures never
block."""

from __future__ import annotations

import os
import stat

from anyhook.tables.vocabulary import *

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.outcome import Outcome


def _result(scene: Scene) -> Json:
    """A StructuredToolResult: the host's own if it gave one, else made from its text or error."""
    event = scene.event
    output = event.get("output")
    if isinstance(output, dict) and "toolName" in output:
        return output
    failed = event.name == "post_tool_failure"
    made: dict[str, Json] = {"toolName": event.get("tool"), "success": not failed}
    if failed:
        made["error"] = event.get("tool_error")
    if output not in ("", None):
        made["metadata"] = {"output": output}
    made["timestamp"] = utc_time()
    return made


def _plain_output(output: Json) -> Json:
    """What the model reads of a StructuredToolResult: its output, or its error, or all of it."""
    if not isinstance(output, dict) or "toolName" not in output:
        return output
    metadata = output.get("metadata")
    text = metadata.get("output") if isinstance(metadata, dict) else None
    return text if text is not None else output.get("error") or output


TOOL = fields(tool_name="tool", tool_input="input", tool_user_id="call_id")
COMPACT = (
    Field("auto_compact_enabled", "auto_compact_enabled"),
    Field("auto_compact_threshold", "auto_compact_threshold", optional=True),
)

EVENTS = (
    EventRow("before_tool_call", ("pre_tool",), "deny_tool", TOOL),
    EventRow("after_tool_call", ("post_tool", "post_tool_failure"), None, (*TOOL, Field("tool_output", _result))),
    EventRow("user_message_send", ("user_prompt_submit",), "abort", fields(message="prompt")),
    EventRow(
        "after_turn",
        ("step_end",),
        None,
        (Field("turn_number", "turn_number"), Field("tools_used", "tools_used"), Field("usage", "usage"), *COMPACT),
    ),
    EventRow(
        "agent_stop",
        ("stop",),
        None,
        (
            Field("messages", "messages"),
            Field("usage", "usage"),
            Field("invoked_recipe", "invoked_recipe", optional=True),
            *COMPACT,
        ),
    ),
)

LIMITS = {"command": Limits(default_s=30.0)}
OFF_SUFFIX = ".disable"


def find(roots: Roots) -> list[Source]:
    user = f"{roots.home}/.kodelet/hooks"
    return [
        Source("kodelet", "project", f"{roots.project}/.kodelet/hooks", roots.project),
        Source("kodelet", "user", user, user),
    ]


def load(source: Source, files: Files) -> Layer:
    found: list[Hook] = []
    for name in files.names(source.path):
        with one_file(files, source, f"{source.path}/{name}"):
            hook = _hook(source, name, files)
            found.extend([hook] if hook is not None else [])
    return Layer(source, tuple(numbered(found)))


def claim(path: str, document: Json) -> tuple[str, int]:
    folder = path.rsplit("/", 1)[0]
    if folder.endswith("/.kodelet/hooks"):
        return folder, 3
    return folder, int(document is None and os.access(path, os.X_OK))


def _hook(source: Source, file_name: str, files: Files) -> Hook | None:
    path = f"{source.path}/{file_name}"
    files.look(path)
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return None
    # A link counts as a hook, as in the product; what it leads to matters only when it is asked for its type.
    link = stat.S_ISLNK(mode)
    if not link and (not stat.S_ISREG(mode) or not mode & 0o111):
        _warn_if_meant(path, mode, files)
        return None
    off = file_name.endswith(OFF_SUFFIX)
    name = file_name.removesuffix(OFF_SUFFIX)
    broken = link and not files.is_executable(path)
    if broken:
        files.problem("not-executable", "this link does not lead to an executable file", path, fix="Fix or remove it.")
    files.made_hook()
    return source.replace(path=path, label="").hook(
        f"{source.scope}:{slug(name)}",
        name,
        "",
        (),
        {"file": path},
        LIMITS["command"].default_s,
        definition=canonical({"file": name}),
        status=DISABLED if off else BROKEN if broken else "armed",
        why=f"its name ends in {OFF_SUFFIX}"
        if off
        else "the link does not lead to an executable file"
        if broken
        else "",
    )


def _warn_if_meant(path: str, mode: int, files: Files) -> None:
    """A script without its execute bit is most likely a hook that was forgotten; a README is not."""
    if stat.S_ISREG(mode) and not path.endswith(OFF_SUFFIX) and files.head(path).startswith(b"#!"):
        import shlex  # only if something is wrong: it would slow down every start of the command

        files.problem(
            "not-executable",
            "this script is not executable, so it is not a hook",
            path,
            fix=f"chmod +x {shlex.quote(path)}",
            severity="warning",
        )


def launch(hook: Hook, scene: Scene) -> Launch:
    return Launch((str(hook.spec["file"]), "run"), dict(scene.env), scene.project)


def names(hook: Hook, files: Files, project_dir: str, home: str) -> tuple[str, ...]:
    return (str(hook.spec["file"]),)


def conversation(scene: Scene) -> Json:
    """A sub-agent has its own conversation."""
    info = scene.event.get("sub_agent_info")
    own = info.get("id") if isinstance(info, dict) else None
    return own or session(scene)


def compact_trigger(scene: Scene) -> dict[str, Json]:
    """Calls the compact recipe once the context has reached the threshold."""
    usage = scene.event.get("usage")
    threshold = scene.event.get("auto_compact_threshold") or 0.80
    if not isinstance(usage, dict) or not scene.event.get("auto_compact_enabled"):
        return {}
    given = (usage.get("current_context_window"), usage.get("max_context_window"), threshold)
    numbers = [value for value in given if isinstance(value, (int, float))]
    if len(numbers) < len(given) or not numbers[1] or numbers[0] / numbers[1] < numbers[2]:
        return {}
    return {"result": "callback", "callback": "compact"}


def _finish(draft: Draft, event: str) -> Draft:
    """`result` says which of the other keys counts."""
    result = draft.pop("result", "")
    callback, arguments = draft.pop("callback", ""), draft.pop("callback_args", {})
    if result == "mutate":
        draft.pop("follow_ups", None)
        if not draft.get("history"):
            draft.pop("history", None)
        return draft
    draft.pop("history", None)
    if result == "callback":
        draft.pop("follow_ups", None)
        if callback:
            draft["recipe"] = {"name": callback, "args": arguments}
    elif event == "step_end":
        draft.pop("follow_ups", None)
    return draft


def read(stdout: bytes) -> Printed:
    """All of stdout is one JSON object, whose keys are not case-sensitive; only zero bytes are silence."""
    kind, value = whole_object_strict(stdout)
    return kind, {key.lower(): item for key, item in value.items()} if isinstance(value, dict) else value


def mistyped(draft: Draft, wrong: str) -> str:
    """A value of the wrong type makes the whole answer invalid."""
    return "" if draft.get("verdict") == "block" else wrong  # a refusal stays a refusal


ACTION_EVENTS = ("step_end", "stop")
RESULTS: Words = (("continue", "none", ()), ("mutate", "none", ()), ("callback", "none", ()))
REPLY = Reply(
    read=read,
    json_reasons=("reason",),
    mistyped=mistyped,
    finish=_finish,
    keys=(
        Key(("blocked",), "bool", "block", on=("pre_tool", "user_prompt_submit")),
        Key(("reason",), "string", "reason", on=("pre_tool", "user_prompt_submit")),
        Key(("input",), "object", "tool_input", on=("pre_tool",)),
        Key(("output",), "object", "tool_output", on=("post_tool", "post_tool_failure")),
        Key(("result",), "string", "note", on=ACTION_EVENTS, words=RESULTS),
        Key(("follow_up_messages",), "strings", "follow_ups", on=("stop",)),
        Key(("messages",), "messages", "history", on=ACTION_EVENTS),
        Key(("callback",), "string", "note", on=ACTION_EVENTS),
        Key(("callback_args",), "texts by name", "note", on=ACTION_EVENTS),
    ),
)

# The document names bash (with `command`); the rest are the product's own tools at the document's commit, except that
# the fields of glob_tool are not checked against it.
TOOLS = {
    "shell": ToolRow("bash", {"timeout_seconds": "timeout"}),
    "read_file": ToolRow("file_read", {"path": "file_path", "limit": "line_limit"}),
    "write_file": ToolRow("file_write", {"path": "file_path", "content": "text"}),
    "edit_file": ToolRow("file_edit", {"path": "file_path"}),
    "list_files": ToolRow("glob_tool", {"glob": "pattern"}),
    "grep": ToolRow("grep_tool", {"glob": "include", "literal": "fixed_strings", "context": "surround_lines"}),
    "delegate_task": ToolRow("subagent", {"task": "question"}),
}

SCAFFOLD = Scaffold(
    shape="executable",
    scripts={"project": "{path}", "user": "{path}"},
    tool="bash",
)
EXAMPLE_ANSWERS = {
    "output": {"output": {"toolName": "bash", "success": True, "metadata": {"output": "replaced"}}},
    "messages": {"result": "mutate", "messages": [{"role": "user", "content": "A summary of what was said."}]},
    "callback": {"result": "callback", "callback": "compact"},
}
ASK_TYPE = "hook"


def _without_follow_ups(outcome: Outcome) -> Outcome:
    return outcome.replace(follow_ups=())


OUTDONE, PLAIN_OUTPUT = _without_follow_ups, _plain_output


OFFERED = {"recipe": ("{project}/.kodelet/recipes", "{home}/.kodelet/recipes")}

DIALECT = Dialect(
    name="kodelet",
    title="Kodelet",
    dense=True,
    files=(("project", ".kodelet/hooks/<executable>"), ("user", "~/.kodelet/hooks/<executable>")),
    find=find,
    claim=claim,
    load=load,
    layering="earlier_name_wins",
    events=EVENTS,
    base=fields(event=native_name, conv_id=conversation, cwd=project, invoked_by="invoked_by"),
    match=everything,
    launch=launch,
    names=names,
    scaffold=SCAFFOLD,
    tools=TOOLS,
    replies={"command": REPLY, "builtin": REPLY},
    limits=LIMITS,
    chains=("input", "output"),
    closed_env=True,
    builtins=(Builtin("builtin:compact-trigger", "after_turn", compact_trigger),),
    settings={"chaining": ("on", "upstream")},
    no_host="Kodelet has extensions in place of hooks now, so it does not call anyhook. Its hook files run in every "
    "agent that does.",
    differences=differences(
        "dd4cc2c1",
        "jingkaihe/kodelet docs/HOOKS.md, pkg/hooks",
        "2026-01-15",
        ("La", "External after_turn hooks are loaded; the product's own list of types forgot them."),
        (
            "Lb",
            "Later hooks see a rewritten input, and a hook that names no input keeps it; "
            '`chaining = "upstream"` in the config gives every hook the original and lets the last answer win.',
        ),
        ("Lc", "A hook that prints nothing does not erase an earlier hook's output."),
        ("Ld", "A rewritten output reaches the model."),
        ("Lo", "Asking for the type has the same limit of 30 seconds."),
        ("Lw", "An unknown type is reported as a problem."),
    ),
    inherits=True,
)


def wants_debug(env: Mapping[str, str]) -> bool:
    """Whether the user asks for debug logs, where its document tells people to look for problems with a hook."""
    return env.get("KODELET_LOG_LEVEL", "").lower() in ("debug", "trace")


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, REASON, Sample

    refuse = f"""echo '{{"blocked": true, "reason": "{REASON}"}}'"""
    return Sample(
        event="before_tool_call",
        files={
            ".kodelet/hooks/guard": '#!/bin/sh\nif [ "$1" = hook ]; then echo before_tool_call; exit; fi\n'
            f"if grep -q '{COMMAND}'; then {refuse}; fi\n"
        },
        script=refuse,
        tool="bash",
    )
