"""Antigravity, by Google: `agy` and the editor, which replaced Gemini CLI for individuals. Its payloads have no event
name, and before a tool an answer without a decision refuses. From the guide and the descriptors in its SDK's package
0.1.22, and from payloads that others captured with 1.0.14.

As a dialect: named sets of hooks in one file, groups for tools and plain lists for the rest; a decision at the top of
the answer, without which a tool is refused."""

from __future__ import annotations

import os

from anyhook.agents._claude_family import DENY, grouped
from anyhook.agents._family import ONE_BY_ONE, HookFile, Layout, Loader, family, misplaced
from anyhook.agents._results import unpacked
from anyhook.tables.vocabulary import *

VERSION = "1.2.7"

TOOL = (Taken("tool", ("toolCall.name",)), Taken("input", ("toolCall.args",), unpacked))
OUTPUT = taken(output=("toolCall.result", "result"))
WRITE = HostTool("write_file", {"path": "TargetFile", "content": "CodeContent"})
EDIT = HostTool("edit_file", {"path": "TargetFile", "old_text": "TargetContent", "new_text": "ReplacementContent"})
INJECT = Say({"injectSteps": [{"ephemeralMessage": "{context}"}]})
FLAT = ("SessionStart", "PreInvocation", "PostInvocation", "Stop")
"""Events whose lists hold handlers instead of groups."""


def _begins(payload: dict[str, Json]) -> bool:
    """Whether this is a turn's first model request, which comes with the prompt."""
    return payload.get("invocationNum") in (0, None)


def _names_a_tool(payload: dict[str, Json]) -> bool:
    """Whether the payload names the tool; the editor names only the step."""
    return isinstance(payload.get("toolCall"), dict)


def _is_idle(payload: dict[str, Json]) -> bool:
    """Whether the turn has ended: it has not while tasks run in the background."""
    return payload.get("fullyIdle") is not False


HOST_EVENTS = (
    HostEvent(
        "SessionStart",
        ("session_start",),
        (),
        {"context": INJECT},
        fixed={"source": "startup"},
        silence={},
        why_not="not every version fires it",
    ),
    HostEvent(
        "PreInvocation",
        ("user_prompt_submit",),
        taken(prompt="lastUserInput"),
        {"context": INJECT},
        silence={},
        when=_begins,
        why_not="a prompt cannot be refused",
    ),
    HostEvent(
        "PreToolUse",
        ("pre_tool",),
        TOOL,
        {
            "block": DENY,
            "ask": Say({"decision": "force_ask", "reason": "{reason}"}),
            "input": Say({"overwrite": "{input}"}),
        },
        limit_s=600,
        silence={"decision": "allow"},
    ),
    HostEvent(
        "PostToolUse",
        ("post_tool", "post_tool_failure"),
        (*TOOL, *OUTPUT),
        error=("error",),
        limit_s=600,
        silence={},
        when=_names_a_tool,
        why_not="the editor does not say which tool it was",
    ),
    HostEvent(
        "Stop",
        ("stop",),
        taken(stop_reason="terminationReason"),
        {"block": Say({"decision": "continue", "reason": "{reason}"})},
        limit_s=600,
        silence={},
        when=_is_idle,
    ),
    HostEvent("PostInvocation", installed=False, why_not="it fires for every request"),
)

OWN_FOLDERS = ("{home}/.gemini/antigravity/brain/**",)
HOST = Host(
    name="antigravity",
    title="Antigravity",
    events=HOST_EVENTS,
    base=taken(session="conversationId", model="modelName", agent_type="agentName"),
    tools={
        "run_command": HostTool("shell", {"command": "CommandLine"}),
        "view_file": HostTool("read_file", {"path": "AbsolutePath"}),
        "write_to_file": WRITE,
        "replace_file_content": EDIT,
        "create_file": WRITE,  # the SDK's names for these two
        "edit_file": EDIT,
        "multi_replace_file_content": HostTool("edit_file", {"path": "TargetFile"}),
        "find_by_name": HostTool("list_files", {"glob": "Pattern"}),
        "grep_search": HostTool("grep", {"pattern": "Query", "path": "SearchPath"}),
        "read_url_content": HostTool("web_fetch", {"url": "Url"}),
        "invoke_subagent": HostTool("delegate_task"),
    },
    entry=Entry(
        "groups",
        {"user": "{home}/.gemini/config/hooks.json", "project": "{project}/.agents/hooks.json"},
        handler=grouped(),
        group={"matcher": "*"},
        under=("anyhook",),
    ),
    project=("workspacePaths.0",),
    reads={"antigravity": ("user", "project")},
    program="agy",
    marks=("ANTIGRAVITY_AGENT",),
    sdk="google.antigravity",
    confirm="`agy -p /hooks` lists what it has read.",
    confirms=(),
    gaps=(
        "refusing a prompt",
        "calls of sub-agents",
        "sessions with an API key, which run no hooks",
        "agents made with its SDK, which reads no hook files (seen with 0.1.22, 2026-11-18); `anyhook[antigravity]` is "
        "for those",
    ),
)


def _call(scene: Scene) -> Json:
    return {"name": scene.event.get("tool"), "args": scene.event.get("input")}


FOLDERS = (".agents", ".agent", "_agents", "_agent")
PLUGINS = "/plugins"
MANIFESTS = ("plugin.json", ".antigravity-plugin/plugin.json", ".gemini-plugin/plugin.json")
STEP = fields(stepIdx=fixed(0))
EVENTS = event_rows(
    HOST,
    cells={"toolCall": _call},
    extra={
        "PreToolUse": STEP,
        "PostToolUse": (*STEP, Field("error", "tool_error")),
        "PreInvocation": fields(invocationNum=fixed(0), initialNumSteps=fixed(0)),
        "Stop": fields(executionNum=fixed(0), error="tool_error", fullyIdle=fixed(True)),
    },
)
BEFORE: Words = (("deny", "block", ()), ("allow", "none", ()), ("ask", "ask", ()), ("force_ask", "ask", ()))
INJECTING = ("session_start", "user_prompt_submit")


def _injected(draft: Draft, _event: str) -> Draft:
    """Steps that a hook adds to the conversation are context."""
    steps = draft.get("injectSteps")
    found: list[Json] = []
    for step in steps if isinstance(steps, list) else ():
        texts = list(step.values()) if isinstance(step, dict) else []
        found.extend(text["systemMessage"] if isinstance(text, dict) else text for text in texts)
    return {**draft, "context": [text for text in found if isinstance(text, str)]}


REPLY = Reply(
    read=whole_object,
    also=("permissionOverrides", "overwriteResult", "terminationBehavior"),
    json_reasons=("reason", "stderr"),
    keys=(
        Key(("decision",), "string", "verdict", on=("pre_tool",), words=BEFORE),
        Key(("reason",), "string", "reason", on=("pre_tool", "stop")),
        Key(("overwrite",), "object", "tool_input", on=("pre_tool",)),
        Key(("injectSteps",), "any", "note", on=INJECTING),
    ),
    finish=_injected,
)
AT_A_STOP = REPLY.replace(
    keys=(
        Key(("decision",), "string", "verdict", words=(("continue", "block", ()),)),
        Key(("reason",), "string", "reason"),
    )
)


def _undecided(answer: dict[str, Json], _event: str) -> str:
    return "" if answer.get("decision") else "it has no `decision`"


class _Named(Loader):
    """A file holds named sets of hooks, and a folder of plugins holds one such file for each plugin."""

    def load(self, source: Source, files: Files) -> Layer:
        if not source.path.endswith(PLUGINS):
            return self._of_sets(source, files)
        found: list[Hook] = []
        for name in files.names(source.path):
            folder = f"{source.path}/{name}"
            manifest = next((path for end in MANIFESTS if files.is_file(path := f"{folder}/{end}")), None)
            each = source.replace(path=f"{folder}/hooks.json", label=name)
            if manifest is None or not files.is_file(each.path):
                continue
            with one_file(files, each):
                said = files.document(manifest, "json")
                hooks = self._of_sets(each, files).hooks
                off = isinstance(said, dict) and said.get("disabled") is True
                found.extend(_off(hooks, f"`disabled` of the plugin {name} turns it off") if off else hooks)
        return Layer(source, tuple(found))

    def claim(self, path: str, document: Json) -> tuple[str, int]:
        _, at, end = path.rpartition(f"{PLUGINS}/")
        return (
            (path, 3) if at and end.endswith("/hooks.json") and end.count("/") == 1 else super().claim(path, document)
        )

    def _of_sets(self, source: Source, files: Files) -> Layer:
        document = files.document(source.path, "json")
        hooks: list[Hook] = []
        for name, part in document.items() if isinstance(document, dict) else ():
            if not isinstance(part, dict):
                files.problem_at("wrong-type", f"`{name}` must hold events", source.path, (name,), fix="Use { }.")
                continue
            inner: Json = {name: {key: value for key, value in part.items() if key != "enabled"}}
            each = source.replace(label=name)
            inner = without(inner, frozenset({"PostInvocation"}), each, files, (name,))
            found = self.read(inner, each, (name,), files)
            off = part.get("enabled") is False
            hooks.extend(_off(found, "`enabled` of its set turns it off") if off else found)
        return Layer(source, tuple(hooks))


def _off(hooks: Iterable[Hook], why: str) -> list[Hook]:
    return [hook.replace(status=DISABLED, why=why) for hook in hooks]


_in_project, _named_in_project = in_a_shell({"ANTIGRAVITY_CONVERSATION_ID": "{session}"})


def _folder(hook: Hook, project: str) -> str:
    """Hooks start in the folder of their hooks.json. Tools that write one file for many agents name scripts from the
    project, so a script that is only there is started there."""
    folder = hook.source.rpartition("/")[0]
    word = str(hook.spec["command"]).strip().partition(" ")[0].strip("\"'")
    relative = "/" in word and word[0] not in "/~$"
    return project if relative and _is_only_in(project, folder, word) else folder


def _is_only_in(project: str, folder: str, name: str) -> bool:
    return os.path.exists(f"{project}/{name}") and not os.path.exists(f"{folder}/{name}")


def _launch(hook: Hook, scene: Scene) -> Launch:
    return _in_project(hook, scene).replace(cwd=_folder(hook, scene.project))


def _names(hook: Hook, files: Files, project: str, home: str) -> tuple[str, ...]:
    return _named_in_project(hook, files, _folder(hook, project), home)


def _schema() -> dict[str, Json]:
    """Named sets of hooks."""
    from anyhook.tables.schema import events_schema

    assert DIALECT.shape is not None  # noqa: S101 (it is made with one)
    assert DIALECT.scaffold is not None  # noqa: S101
    named = events_schema(DIALECT.shape, DIALECT.scaffold)
    keys = named["properties"]
    assert isinstance(keys, dict)  # noqa: S101 (a table is made so)
    switch: Json = {"enabled": {"type": "boolean"}, "PostInvocation": {}}
    properties = {**keys, **(switch if isinstance(switch, dict) else {})}
    return {"type": "object", "additionalProperties": {**named, "properties": properties}}


LAYOUT = Layout(
    (
        HookFile("user", "{home}/.gemini/config/hooks.json"),
        HookFile("user", "{home}/.gemini/config/plugins"),
        *(HookFile("project", f"{{project}}/{folder}/hooks.json") for folder in FOLDERS),
        *(HookFile("project", f"{{project}}/{folder}/plugins") for folder in FOLDERS),
    ),
    under=("mine",),
    flat=FLAT,
    limits=Limits(30.0),
)
_MADE = family(
    HOST,
    LAYOUT,
    EVENTS,
    REPLY.replace(on_event={"pre_tool": REPLY.replace(spoils=_undecided), "stop": AT_A_STOP}),
    base=fields(conversationId=session, workspacePaths=projects, transcriptPath=no_transcript, modelName="model"),
    variables={"ANTIGRAVITY_CONVERSATION_ID": "{session}"},
    launch=_launch,
    names=_names,
    together=False,
    **ONE_BY_ONE,
    schema=_schema,
    whole_input=merged,
    failing=Failing(gates_only=("output", "exit", "signalled")),
    misplaced=misplaced(
        ("{home}/.gemini/hooks.json", "~/.gemini/config/hooks.json"),
        ("{project}/.gemini/hooks/hooks.json", ".agents/hooks.json"),
    ),
    differences=differences(
        "1.2.7",
        "PyPI google-antigravity 0.1.22, the guide in its program; reports about 1.0 to 1.2",
        "2026-11-16",
        ("AG-1", "Folders above the project are not searched for `.agents`."),
        ("AG-5", "Nothing on stdout lets a tool run, as version 1.0.3 did; newer ones were not seen."),
        ("AG-6", "A command that fails refuses a tool, as others report for 1.2; it was not seen here."),
        ("AG-12", "`plugins.json` is not read, nor does `config.json` decide which plugins are on."),
        ("AG-9", "A script that is in the project and not next to hooks.json starts in the project's folder."),
    ),
)
assert _MADE.shape is not None  # noqa: S101 (it is made with one)
_LOADER = _Named(HOST, LAYOUT, _MADE.shape)
_FILES = tuple((scope, f"{path}/*/hooks.json" if path.endswith(PLUGINS) else path) for scope, path in _MADE.files)
assert _MADE.scaffold is not None  # noqa: S101
_SCAFFOLD = _MADE.scaffold.replace(command={**_MADE.scaffold.command, "project": "hooks/{file}"})
DIALECT = _MADE.replace(scaffold=_SCAFFOLD, load=_LOADER.load, claim=_LOADER.claim, files=_FILES)


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, REASON, Sample

    deny = f'{{"decision": "deny", "reason": "{REASON}"}}'
    guard = f"#!/bin/sh\nif grep -q '{COMMAND}'; then echo '{deny}'; else echo '{{\"decision\": \"allow\"}}'; fi\n"
    handler: dict[str, Json] = {"type": "command", "command": "scripts/guard", "timeout": 10}
    call: dict[str, Json] = {
        "name": "run_command",
        "args": {"CommandLine": COMMAND, "Cwd": "/p", "SafeToAutoRun": True},
    }
    return Sample(
        event="PreToolUse",
        files={
            ".agents/hooks.json": {"mine": {"PreToolUse": [{"matcher": "run_command", "hooks": [handler]}]}},
            ".agents/scripts/guard": guard,
        },
        script=f"echo '{deny}'",
        tool="run_command",
        input={"CommandLine": COMMAND},
        calls="PreToolUse",
        payload={"conversationId": "s", "workspacePaths": ["/p"], "toolCall": call, "stepIdx": 3},
        stdout={"decision": "deny", "reason": REASON},
    )
