"""Muse Code: Claude's hook files, read strictly. A mistake in a group spoils the file, one in a handler drops the
handler, and hooks get almost none of the user's variables."""

from __future__ import annotations

from anyhook.agents._family import MODE, HookFile, Layout, Loader, claude_reply, family, shape_of
from anyhook.agents.muse import HOST
from anyhook.model.hook import BROKEN, Hook, Layer, Source
from anyhook.tables.cells import native_name, project, session
from anyhook.tables.hosted import alone, event_rows, in_a_shell
from anyhook.tables.rows import SPECIFIC, Field, Limits, Scene, differences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.documents.files import Files
    from anyhook.model.json_types import Json
    from anyhook.tables.rows import Launch

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


def _nothing(_scene: Scene) -> Json:
    return None


def _provider(_scene: Scene) -> Json:
    return "meta"


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
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        wrong = f"`{event}` does not hold a list" if not isinstance(groups, list) else ""
        for group in groups if isinstance(groups, list) else ():
            wrong = wrong or _wrong_group(event, group)
        if wrong:
            return f"Muse Code ignores the whole file: {wrong}"
    return ""


def _wrong_group(event: str, group: Json) -> str:
    if not isinstance(group, dict) or not isinstance(group.get("hooks"), list):
        return f"a group of `{event}` does not have a list under `hooks`"
    if not isinstance(group.get("matcher", ""), str):
        return f"a matcher of `{event}` is not text"
    more = [key for key in group if key not in ("matcher", "hooks")]
    return f"a group of `{event}` has the key `{more[0]}`" if more else ""


def _handlers(document: Json) -> dict[tuple[str | int, ...], str]:
    """The places of handlers that the product drops, each with the reason."""
    hooks = document.get("hooks") if isinstance(document, dict) else None
    found: dict[tuple[str | int, ...], str] = {}
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for index, group in enumerate(groups if isinstance(groups, list) else ()):
            listed = group.get("hooks") if isinstance(group, dict) else None
            for number, handler in enumerate(listed if isinstance(listed, list) else ()):
                wrong = _wrong_handler(handler) if isinstance(handler, dict) else ""
                if wrong:
                    found["hooks", event, index, "hooks", number] = wrong
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
    limits=Limits(60.0),
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


_shell, names = in_a_shell(lambda hook, folder, session_id: {})


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
        Field("transcript_path", _nothing),
        Field("cwd", project),
        Field("hook_event_name", native_name),
        Field("turn_id", "turn_id"),
        Field("model", "model"),
        Field("model_provider", _provider),
        MODE,
    ),
    variables=lambda hook, folder, session_id: {},
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
