"""Kimi's Agent Hooks: a folder per hook with `HOOK.md` and `scripts/run*`; priorities, background hooks, fail-open."""

from __future__ import annotations

import os

from anyhook.programs.named import stands_alone
from anyhook.tables.folders import FolderShape, load_folders
from anyhook.tables.vocabulary import *

TOOL = fields(tool_name="tool", tool_input="input", tool_use_id="call_id")
RESULT = fields(tool_output="output", error="tool_error", duration_ms="duration_ms")
AGENT = fields(subagent_name="agent_name", subagent_type="agent_type", task_description="task")


EVENTS = (
    EventRow("session_start", ("session_start",), "abort", fields(model="model", args=fixed({}))),
    EventRow(
        "session_end",
        ("session_end",),
        "advisory",
        fields(duration_seconds="duration_s", total_steps="step_count", exit_reason="reason"),
    ),
    EventRow("before_agent", ("turn_start",), "end_turn", fields(prompt="prompt")),
    EventRow("after_agent", ("turn_end",), "feedback", fields(final_message="final_message")),
    EventRow("before_tool", ("pre_tool",), "deny_tool", TOOL, "tool"),
    EventRow("after_tool", ("post_tool",), "feedback", (*TOOL, *RESULT), "tool"),
    EventRow("after_tool_failure", ("post_tool_failure",), "feedback", (*TOOL, *RESULT), "tool"),
    EventRow("subagent_start", ("subagent_start",), "skip", AGENT),
    EventRow("subagent_stop", ("subagent_stop",), "keep_working", (*AGENT, Field("result", "result")), bound=3),
    EventRow("pre_compact", ("pre_compact",), "skip", fields(trigger="trigger")),
    EventRow(
        "before_stop",
        ("stop",),
        "keep_working",
        fields(stop_reason="stop_reason", step_count="step_count", final_message="final_message"),
        notice="[Hook blocked stop: {reason}]",
        bound=3,
        in_subagents=False,
    ),
)
ENTRY_POINTS = ("scripts/run", "scripts/run.sh", "scripts/run.py")
LIMITS = {"command": Limits(default_s=30.0, unit_s=0.001, min_s=0.1, max_s=600.0)}
SHAPE = FolderShape(
    declared_in="HOOK.md",
    events=EVENTS,
    keys=("name", "description", "trigger", "matcher", "timeout", "async", "async_", "priority", "metadata"),
    entry_points=ENTRY_POINTS,
    limits=LIMITS["command"],
)
FOLDER_FILES = 2000
"""How many files and folders of one hook an approval pins; a hook with more cannot be approved."""


def find(roots: Roots) -> list[Source]:
    user = roots.xdg("XDG_CONFIG_HOME", ".config") + "/agents/hooks"
    return [
        Source("agenthooks", "user", user, user),
        Source("agenthooks", "project", f"{roots.project}/.agents/hooks", roots.project),
    ]


def load(source: Source, files: Files) -> Layer:
    return load_folders(source, files, SHAPE)


def schema() -> dict[str, Json]:
    from anyhook.tables.schema import folder_schema

    return folder_schema(SHAPE)


def claim(path: str, document: Json) -> tuple[str, int]:
    return path.rsplit("/", 2)[0], 3 * path.endswith("/HOOK.md")


def launch(hook: Hook, scene: Scene) -> Launch:
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
    """Every file of the hook's folder, because scripts read each other. If there are too many, the folder itself, which
    no approval can pin."""
    found: list[str] = []
    folders = [hook.root]
    for folder in folders:  # grows while it is walked
        for name in files.names(folder):
            path = f"{folder}/{name}"
            if files.is_folder(path):
                if name != ".git":
                    folders.append(path)
            elif not folder.endswith("/__pycache__") or stands_alone(path, files):
                found.append(path)
        if len(found) + len(folders) > FOLDER_FILES:
            return (hook.root,)
    return tuple(found)


def sort(hook: Hook) -> tuple[Json, ...]:
    folder = hook.source.rsplit("/", 2)[-2]
    return (hook.background, -(hook.priority or 0), hook.scope != "user", folder, hook.name)


REPLY = Reply(
    read=object_or_text,
    also=("log",),
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
        # Any value can be a text, as in the branch behind the document.
        Key(("reason",), "any", "reason"),
        Key(("modified_input",), "object", "tool_input", on=("pre_tool",)),
        Key(("additional_context",), "any", "context"),
    ),
)

# The document names Shell (with `command`) and WriteFile. StrReplaceFile, Glob and Grep are as in the product's source;
# the limits of Shell and ReadFile are not checked against it. Its `line_offset` counts from 1 and the host's `offset`
# from 0, so that field keeps the host's name.
TOOLS = {
    "shell": ToolRow("Shell", {"timeout_seconds": "timeout"}),
    "read_file": ToolRow("ReadFile", {"limit": "n_lines"}),
    "write_file": ToolRow("WriteFile"),
    "edit_file": ToolRow("StrReplaceFile", {"old_text": "edit.old", "new_text": "edit.new"}),
    "list_files": ToolRow("Glob", {"path": "directory", "glob": "pattern"}),
    "grep": ToolRow("Grep", {"ignore_case": "-i", "context": "-C"}),
    "delegate_task": ToolRow("Task", {"agent_name": "subagent_name", "task": "prompt"}),
    "web_fetch": ToolRow("FetchURL"),
    "web_search": ToolRow("SearchWeb"),
}

# The words of the specification that the document refers to.
WORDS = {
    "reason": {"*": "user_exit"},
    "stop_reason": {"tool_rejected": "tool_rejected", "max_steps": "max_steps", "*": "no_tool_calls"},
}

SCAFFOLD = Scaffold(
    shape="folder",
    scripts={"project": "{path}/{name}/scripts", "user": "{path}/{name}/scripts"},
    declared_in=("HOOK.md",),
    tool="Shell",
)

DIALECT = Dialect(
    name="agenthooks",
    title="Agent Hooks (Kimi)",
    no_host="It is the format of a proposal, which no released agent reads. Install anyhook in Kimi Code or "
    "Kimi CLI by their own names.",
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
    schema=schema,
    layering="later_name_wins",
    events=EVENTS,
    base=fields(event_type=native_name, timestamp=local_time, session_id=session, work_dir=project),
    match=tool_and_content,
    launch=launch,
    names=names,
    scaffold=SCAFFOLD,
    tools=TOOLS,
    words=WORDS,
    replies={"command": REPLY},
    limits=LIMITS,
    chains=("input",),
    sort=sort,
    settings={"cwd": ("work_dir", "hook")},
    differences=differences(
        "98c7319a",
        "MoonshotAI/kimi-cli docs/en/configuration/hooks.md, src/kimi_cli/hooks",
        "2026-02-14",
        (
            "A-16",
            "All eleven documented events fire, and a block takes effect in all but `session_end`: a session ends in "
            "any case, and the reason is shown. The branch behind the document fired five.",
        ),
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
    inherits=True,
)


def sample() -> Sample:
    from anyhook.tables.sample_rows import GUARD, Sample

    return Sample(
        event="before_tool",
        files={
            ".agents/hooks/guard/HOOK.md": "---\nname: guard\ndescription: Refuses echo.\ntrigger: before_tool\n"
            "matcher:\n  tool: Shell\n---\n",
            ".agents/hooks/guard/scripts/run": GUARD,
        },
        tool="Shell",
    )
