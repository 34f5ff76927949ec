"""Muse Code, by Meta: Claude's payloads and hook files, two events of its own, and hooks that run with a cleared
environment. Its documents name files and events only, and its program can be had from the vendor alone, so no run here
has seen it: the rest is what others measured with 1.0.2 to 1.4.0. Answers have only what they saw it read.

As a dialect: Claude's hook files, read strictly. A mistake in a group spoils the file, one in a handler drops the
handler, and hooks get almost none of the user's variables."""

from __future__ import annotations

from anyhook.agents._claude_family import BASE, EXIT_2, event
from anyhook.agents._family import MODE, HookFile, Layout, Loader, claude_reply, family, shape_of
from anyhook.tables.vocabulary import *

VERSION = "1.4.1"

UNMEASURED = "nobody has measured what it reads here"
WITH_STATUS = {"block": EXIT_2}
ENTRY_WAIT_S = 30
"""Whether it takes a limit in the user's settings is disputed, and it documents no default."""
HOST_EVENTS = tuple(
    row.replace(limit_s=ENTRY_WAIT_S)
    for row in (
        event("SessionStart", "context message", why_not=f"{UNMEASURED}, and a resumed session does not fire it"),
        event("UserPromptSubmit", "block context message", WITH_STATUS),
        event("PreToolUse", "block message"),
        event("PermissionRequest", "block", WITH_STATUS),
        event("PostToolUse", "block", WITH_STATUS),
        event("SubagentStart", why_not=UNMEASURED),
        event("SubagentStop", why_not=UNMEASURED),
        event("PreCompact", why_not=UNMEASURED),
        event("PostCompact", why_not=UNMEASURED),
        event("Notification", why_not=UNMEASURED),
        event("Stop", "block", WITH_STATUS, why_not="1.2 does not fire it with Meta's models"),
        event("SessionEnd", why_not="its output has no effect"),
    )
) + left_out("no canonical event: it fires for every request, with the whole conversation", "PreLLMCall", "PostLLMCall")

HOST = Host(
    name="muse",
    title="Muse Code",
    events=HOST_EVENTS,
    base=BASE,
    tools={
        "bash": HostTool("shell"),
        "powershell": HostTool("shell"),
        "Bash": HostTool("shell"),
        "read_file": HostTool("read_file"),
        "write_file": HostTool("write_file"),
        "edit_file": HostTool("edit_file", {"old_text": "find", "new_text": "replace"}),
        "search": HostTool("grep"),
    },
    # A handler with a key that it does not know is dropped, so ours has only the two that all sources agree on.
    entry=Entry(
        "groups",
        {"user": "{config}/muse/settings.json", "project": "{project}/.muse/hooks.json"},
        {"config": ("XDG_CONFIG_HOME", "{home}/.config")},
        {"type": "command", "command": "{command}"},
        top={"schema_version": 1},
        names_tools=True,
    ),
    reads={"muse": ("user", "project")},
    program="muse",
    settings=("{config}/muse/settings.json",),
    confirm="It reads a project's hooks once you trust the folder.",
    gaps=(
        "requests to the model",
        "rewritten input",
        "asking the user",
        "failed calls, whose event it does not document",
        "plug-ins of its own, which may bring hooks",
    ),
    signs=(Sign(("model_provider", "turn_id")),),
)


HANDLER_KEYS = (
    "type", "command", "commandWindows", "command_windows", "timeout", "statusMessage", "async", "silent",
    "outputCapabilities",
)  # fmt: skip
"""The keys of a handler that it takes."""
KEPT_VARIABLES = frozenset(
    ("HOME", "LANG", "LOGNAME", "OLDPWD", "PATH", "PWD", "SHELL", "SHLVL", "TERM", "TMPDIR", "USER", "_")
)
"""The variables that its hooks get."""
ANSWER_KEYS = ("continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", SPECIFIC)
SPECIFIC_KEYS = (
    "hookEventName", "additionalContext", "permissionDecision", "permissionDecisionReason", "updatedInput", "decision",
)  # fmt: skip
MANAGED = "managed_hooks_path"
EVENTS = event_rows(HOST)


def spoils(answer: dict[str, Json], _event: str) -> str:
    """Why the product would not read an answer: it has a key that it does not know."""
    given = answer.get(SPECIFIC)
    specific = given if isinstance(given, dict) else {}
    unknown = [key for key in answer if key not in ANSWER_KEYS]
    unknown += [f"{SPECIFIC}.{key}" for key in specific if key not in SPECIFIC_KEYS]
    return f"`{unknown[0]}` is not a key of its answers" if unknown else ""


def spoilt(document: Json) -> str:
    """Why the product ignores a whole file, or ""."""
    hooks = document.get("hooks") if isinstance(document, dict) else None
    for native, groups in hooks.items() if isinstance(hooks, dict) else ():
        wrong = f"`{native}` does not hold a list" if not isinstance(groups, list) else ""
        for group in groups if isinstance(groups, list) else ():
            wrong = wrong or _wrong_group(native, group)
        if wrong:
            return f"Muse Code ignores the whole file: {wrong}"
    return ""


def _wrong_group(native: str, group: Json) -> str:
    if not isinstance(group, dict) or not isinstance(group.get("hooks"), list):
        return f"a group of `{native}` does not have a list under `hooks`"
    if not isinstance(group.get("matcher", ""), str):
        return f"a matcher of `{native}` is not text"
    more = [key for key in group if key not in ("matcher", "hooks")]
    return f"a group of `{native}` has the key `{more[0]}`" if more else ""


def _handlers(document: Json) -> dict[tuple[str | int, ...], str]:
    """The places of handlers that the product drops, each with the reason."""
    hooks = document.get("hooks") if isinstance(document, dict) else None
    found: dict[tuple[str | int, ...], str] = {}
    for native, groups in hooks.items() if isinstance(hooks, dict) else ():
        for index, group in enumerate(groups if isinstance(groups, list) else ()):
            listed = group.get("hooks") if isinstance(group, dict) else None
            for number, handler in enumerate(listed if isinstance(listed, list) else ()):
                wrong = _wrong_handler(handler) if isinstance(handler, dict) else ""
                if wrong:
                    found["hooks", native, index, "hooks", number] = wrong
    return found


def _wrong_handler(handler: dict[str, Json]) -> str:
    """Why the product drops one handler, or ""."""
    more = [key for key in handler if key not in HANDLER_KEYS]
    if more:
        return f"Muse Code drops a handler with the key `{more[0]}`"
    limit = handler.get("timeout", 0)
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
        return "Muse Code drops a handler whose `timeout` is not a whole number"
    return ""


LAYOUT = Layout(
    (HookFile("user", "{config}/muse/settings.json"), HookFile("project", "{project}/.muse/hooks.json")),
    keys=HANDLER_KEYS[2:],
    skipped=("http", "prompt", "agent", "mcp_tool"),
    elsewhere=alone(HOST),
    top={"schema_version": 1},
)
LOADER = Loader(HOST, LAYOUT, shape_of("muse", EVENTS, LAYOUT))


def load(source: Source, files: Files) -> Layer:
    hooks = _of_file(source, files)
    document = files.document(source.path, "json") if source.scope == "user" and files.is_file(source.path) else None
    named = document.get(MANAGED) if isinstance(document, dict) else None
    if isinstance(named, str) and named:
        path = named if named.startswith("/") else f"{source.root}/{named}"
        if files.is_file(path):
            hooks += _of_file(source.replace(path=path, label="managed"), files)
        else:
            what = f"`{MANAGED}` names a file that is not there: {path}"
            files.problem_at("wrong-value", what, source.path, (MANAGED,), fix="Correct the path, or remove the key.")
    return Layer(source, tuple(hooks))


def _of_file(source: Source, files: Files) -> list[Hook]:
    """The hooks of one file; those that the product would not load are broken."""
    layer = LOADER.load(source, files)
    if not layer.hooks:
        return []
    document = files.document(source.path, "json")
    whole, dropped = spoilt(document), _handlers(document)
    return [
        hook.replace(status=BROKEN, why=wrong) if (wrong := whole or dropped.get(hook.place, "")) else hook
        for hook in layer.hooks
    ]


_shell, names = in_a_shell({})


def launch(hook: Hook, scene: Scene) -> Launch:
    made = _shell(hook, scene)
    return made.replace(env={name: value for name, value in made.env.items() if name in KEPT_VARIABLES})


DIALECT = family(
    HOST,
    LAYOUT,
    EVENTS,
    claude_reply(EVENTS, spoils=spoils),
    base=(
        Field("session_id", session),
        Field("transcript_path", fixed(None)),
        Field("cwd", project),
        Field("hook_event_name", native_name),
        Field("turn_id", "turn_id"),
        Field("model", "model"),
        Field("model_provider", fixed("meta")),
        MODE,
    ),
    load=load,
    launch=launch,
    names=names,
    closed_env=True,
    differences=differences(
        "1.4.1",
        "Meta's documents as quoted by others; measured by others: skillsaw#574, muse-code-sdk#4, agent-beacon#439",
        "2026-11-19",
        ("MU-1", "Plug-ins are not read, nor is a managed file that a variable names."),
        ("MU-3", "The product documents no default time limit; 60 s apply."),
        ("MU-5", "A matcher has no effect on events without a tool, a source or a trigger."),
        ("MU-7", "`managed_hooks_env_vars` has no effect: a managed file's hooks get no more variables than others."),
        ("MU-9", "Nobody has measured what exit statuses mean; 2 refuses."),
    ),
)


CHANGES = (
    until(
        "0.2",
        "was not seen to obey hooks: its events were published with 0.2",
        "meta-models/muse-code-sdk#4; agentic-control-plane/muse-code-acp-plugin, README",
        "2026-08",
    ),
)


def sample() -> Sample:
    from anyhook.tables.sample_rows import called, guarded

    payload = {
        "session_id": "s", "hook_event_name": "PreToolUse", "cwd": "/p", "turn_id": "t", "transcript_path": None,
        "model_provider": "meta", "permission_mode": "default", **called("bash"),
    }  # fmt: skip
    return guarded(".muse/hooks.json", "bash", payload)
