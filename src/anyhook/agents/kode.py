"""Kode: hooks in a YAML config, which both the product and we read. It is not public, so it was never run here;
everything comes from its documents.

As a host: any exit status but 0 refuses, and so does a hook that is missing or late. Its hooks get four variables and
no home, so the entry names the user's folders itself.

As a dialect: entries of `hooks.<event>[]` in a YAML or JSON config, run as argv with exactly four variables,
fail-closed."""

from __future__ import annotations

from anyhook.agents._claude_family import EXIT_2
from anyhook.programs.commands import argv_of, check_argv, expand_home, split
from anyhook.programs.loose import argv_read
from anyhook.tables.vocabulary import *

VERSION = "1.3.7"


NOTE = Say({"annotation": "{message}"})
TOOL = Taken("tool", ("tool",))
HOST_EVENTS = (
    HostEvent(
        "session_start",
        ("session_start",),
        taken(provider="provider", model="model"),
        {"block": EXIT_2, "message": NOTE},
    ),
    HostEvent(
        "user_prompt_submit",
        ("user_prompt_submit",),
        taken(prompt="prompt", attachments="attachments"),
        {"block": EXIT_2, "prompt": Say({"replace_prompt": "{prompt}"}), "message": NOTE},
    ),
    HostEvent(
        "tool_call_pre",
        ("pre_tool",),
        (TOOL, Taken("input", ("input",)), Taken("auto_approve", ("auto_approve",))),
        {"block": EXIT_2, "input": Say({"replace_tool_input": "{input}"}), "message": NOTE},
        limit_s=600,
    ),
    HostEvent(
        "tool_call_post",
        ("post_tool", "post_tool_failure"),
        (
            TOOL,
            Taken("input", ("input",)),
            Taken("output", ("output",)),
            Taken("exit_code", ("exit_code",)),
            Taken("duration_ms", ("duration_ms",)),
        ),
        {"block": EXIT_2, "message": NOTE},
        error=("exit_code",),
        limit_s=600,
    ),
    HostEvent("session_end", ("session_end",), taken(reason="reason", turns="turns"), {"message": NOTE}),
)

CARRIED = ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
HOST = Host(
    name="kode",
    title="Kode",
    events=HOST_EVENTS,
    base=taken(session="session_id"),
    tools={"shell": HostTool("shell")},
    entry=Entry(
        "list",
        {"user": "{config}/kode/config.yaml"},
        {"config": ("XDG_CONFIG_HOME", "{home}/.config")},
        {"exec": "{command}", "timeout_ms": "{milliseconds}"},
    ),
    project=("work_dir",),
    project_variables=("KODE_WORK_DIR",),
    reads={"kode": ("user", "project")},
    program="kode",
    without_us="refuses",
    confirms=(),
    confirm="nothing to confirm: it reads its config when it starts.",
    gaps=(
        "events for which the project's own config has a list: that list replaces the user's, our entry included",
        "context for the model",
        "asking the user",
    ),
)


def _exit_code(scene: Scene) -> Json:
    """A failed tool has a non-zero status, whether or not the host gave one."""
    code = scene.event.get("exit_code")
    return code or 1 if scene.event.name == "post_tool_failure" else code


BASE = fields(event=native_name, session_id=session)

EVENTS = (
    EventRow(
        "session_start", ("session_start",), "abort", fields(work_dir=project, provider="provider", model="model")
    ),
    EventRow(
        "user_prompt_submit",
        ("user_prompt_submit",),
        "abort",
        fields(prompt="prompt", attachments="attachments"),
        in_subagents=False,
    ),
    EventRow(
        "tool_call_pre", ("pre_tool",), "deny_tool", fields(tool="tool", input="input", auto_approve="auto_approve")
    ),
    EventRow(
        "tool_call_post",
        ("post_tool", "post_tool_failure"),
        "feedback",
        fields(tool="tool", exit_code=_exit_code, output=output_text, duration_ms="duration_ms"),
    ),
    EventRow("session_end", ("session_end",), "advisory", fields(reason="reason", turns="turns")),
)

LIMITS = {"command": Limits(default_s=5.0, unit_s=0.001)}

SHAPE = EntryShape(
    dialect="kode",
    events=EVENTS,
    handlers=(HandlerShape("command", "exec", ("exec", "timeout_ms"), check_argv, split),),
    limits=LIMITS,
    timeout_key="timeout_ms",
)


def find(roots: Roots) -> list[Source]:
    user = roots.xdg("XDG_CONFIG_HOME", ".config") + "/kode"
    return [
        Source("kode", "user", f"{user}/config.yaml", user),
        Source("kode", "project", f"{roots.project}/.kode/config.yaml", roots.project),
    ]


def load(source: Source, files: Files) -> Layer:
    text = files.text(source.path)
    if text is None or not text.strip("\ufeff \t\r\n"):
        return Layer(source, ())
    syntax = "json" if text.lstrip("\ufeff \t\r\n")[0] in "{[" else "yaml"
    document = files.parse(source.path, text, syntax)
    if document is None:
        return Layer(source, ())
    entries = Entries(source, files, SHAPE)
    hooks = entries.flat(document)
    # A later file's list for an event replaces the earlier file's list, even if it is empty.
    return Layer(source, tuple(hooks), replaces=tuple(entries.named))


def claim(path: str, document: Json) -> tuple[str, int]:
    hooks = document.get("hooks") if isinstance(document, dict) else None
    if isinstance(document, dict) and "kodeVersion" in document:
        return path, 3
    if isinstance(hooks, dict) and any(row.native in hooks for row in EVENTS):
        return path, 3
    if path.endswith(("/config.yaml", "/config.yml")):
        return path, 2
    return path, int(path.endswith((".yaml", ".yml", ".json")))


def launch(hook: Hook, scene: Scene) -> Launch:
    home = scene.env.get("HOME", "")
    argv = tuple(expand_home(word, home) for word in argv_of(hook))
    env = {
        "KODE_HOOK_EVENT": scene.native,
        "KODE_SESSION_ID": scene.session,
        "KODE_WORK_DIR": scene.project,
        "PATH": scene.env.get("PATH", ""),
    }
    return Launch(argv, env, scene.project)


def names(hook: Hook, files: Files, project_dir: str, home: str) -> tuple[str, ...]:
    return named_files(argv_read(argv_of(hook)), project_dir, home, {}, files)


def unknown(answer: dict[str, Json]) -> list[str]:
    """It warns about every key that it does not read."""
    known = {key.path[0] for key in REPLY.keys}
    return [name for name in answer if name not in known]


REPLY = Reply(
    read=whole_object,
    otherwise="block",
    json_reasons=("message", "stderr"),
    unknown=unknown,
    keys=(
        Key(("block",), "bool", "block"),
        Key(("annotation",), "string", "messages"),
        Key(("replace_prompt",), "string", "prompt", on=("user_prompt_submit",)),
        Key(("replace_tool_input",), "object", "tool_input", on=("pre_tool",)),
    ),
)

# The document names two ends of a session: a word for the user's, and the signal.
WORDS = {"reason": {"sighup": "sigterm", "*": "user_exit"}}

SCAFFOLD = Scaffold(
    shape="list",
    scripts={"project": "{project}/.kode/hooks", "user": "{home}/.kode/hooks"},
    command={"project": ".kode/hooks/{file}", "user": "~/.kode/hooks/{file}"},
    key="exec",
    tool="shell",
)

DIALECT = Dialect(
    name="kode",
    title="Kode",
    files=(("user", "~/.config/kode/config.yaml"), ("project", ".kode/config.yaml")),
    find=find,
    claim=claim,
    misplaced=(
        Misplaced("{home}/.kode/kode.json", "~/.config/kode/config.yaml", "hooks"),
        Misplaced("{home}/.kode/config.yaml", "~/.config/kode/config.yaml", "hooks"),
        Misplaced("{home}/.config/kode/config.yaml", "$XDG_CONFIG_HOME/kode/config.yaml", "hooks"),
        Misplaced("{config}/kode/config.yml", "~/.config/kode/config.yaml", "hooks"),
        Misplaced("{config}/kode/config.json", "~/.config/kode/config.yaml", "hooks"),
        Misplaced("{project}/.kode/config.yml", ".kode/config.yaml", "hooks"),
        Misplaced("{project}/.kode/config.json", ".kode/config.yaml", "hooks"),
        Misplaced("{project}/.kode/kode.json", ".kode/config.yaml", "hooks"),
    ),
    load=load,
    shape=SHAPE,
    layering="replace_lists",
    events=EVENTS,
    base=BASE,
    match=everything,
    launch=launch,
    names=names,
    scaffold=SCAFFOLD,
    words=WORDS,
    replies={"command": REPLY},
    failing=Failing(
        blocks=("timed_out", "signalled", "overflowed", "exit"),
        gates_only=("not_started",),
        codes={
            "timed_out": "KODE-HOOK-001",
            "blocked": "KODE-HOOK-002",
            "signalled": "KODE-HOOK-002",
            "overflowed": "KODE-HOOK-002",
            "exit": "KODE-HOOK-002",
            "output": "KODE-HOOK-003",
            "not_started": "KODE-HOOK-004",
        },
    ),
    limits=LIMITS,
    chains=("prompt", "input"),
    closed_env=True,
    withholds=True,
    settings={"missing_binary": ("block", "pass")},
    differences=differences(
        "1.3.7",
        "kds.koder.dev/en-US/reference/kode-hooks.html",
        "2026-11-14",
        (
            "Ka",
            "The document says that triggers and JSON equal Claude Code's, but its own tables "
            "differ. anyhook follows the tables.",
        ),
        (
            "Ke",
            'A missing program blocks the events that gate something; `missing_binary = "pass"` in the config '
            "lets them go on.",
        ),
        ("Kr", "The whole process tree is killed on a timeout, not only the hook's own process."),
        ("1.3", "The legacy file `~/.kode/kode.json` is not read."),
    ),
)


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, GUARD, REASON, Sample

    return Sample(
        event="tool_call_pre",
        files={
            ".kode/config.yaml": "hooks:\n  tool_call_pre:\n    - exec: .kode/hooks/guard\n",
            ".kode/hooks/guard": GUARD,
        },
        script=f"echo '{REASON}' >&2; exit 1",
        tool="shell",
        calls="tool_call_pre",
        payload={
            "event": "tool_call_pre", "session_id": "s", "tool": "shell", "input": {"command": COMMAND},
            "auto_approve": False,
        },
        stderr=REASON,
        status=2,
    )  # fmt: skip
