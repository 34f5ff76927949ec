"""Acme Code, an invented product: hooks in `.acme/settings.json`, as groups of commands under each event. The file that
its hooks are declared in is also where our own entry goes."""

from __future__ import annotations

from anyhook.tables.vocabulary import *

VERSION = "1.0.0"

# -- how it calls us

TOOL = taken(tool="tool", input="args")

HOST = Host(
    name="acme",
    title="Acme Code",
    events=(
        HostEvent("chat_started", ("session_start",), fixed={"source": "startup"}),
        HostEvent(
            "before_tool",
            ("pre_tool",),
            TOOL,
            {"block": Say({"permit": False, "why": "{reason}"}), "message": Say({"note": "{message}"})},
            limit_s=60,
        ),
        HostEvent("after_tool", ("post_tool",), (*TOOL, *taken(output="result"))),
        HostEvent("turn_ended", ("stop",)),
    ),
    base=taken(session="chat"),
    tools={"run": HostTool("shell"), "save": HostTool("write_file", {"path": "file", "content": "text"})},
    entry=Entry(
        "groups",
        {"user": "{home}/.acme/settings.json", "project": "{project}/.acme/settings.json"},
        handler={"type": "command", "command": "{command}", "timeout": "{seconds}"},
    ),
    project=("folder",),
    reads={"acme": ("user", "project")},
    program="acme",
    confirm="nothing to confirm: it reads its settings when it starts.",
    gaps=("prompts",),
)

# -- how its hooks are declared, called and read

EVENTS = event_rows(HOST)
LIMITS = {"command": Limits(10.0)}
SHAPE = EntryShape(
    dialect="acme",
    events=EVENTS,
    handlers=(HandlerShape("command", "command", ("command", "timeout"), check_text),),
    limits=LIMITS,
    timeout_key="timeout",
    top_keys=None,
    check_matcher=check_pattern,
)


def find(roots: Roots) -> list[Source]:
    user = roots.env.get("ACME_HOME") or f"{roots.home}/.acme"
    return [
        Source("acme", "user", f"{user}/settings.json", user),
        Source("acme", "project", f"{roots.project}/.acme/settings.json", roots.project),
    ]


def load(source: Source, files: Files) -> Layer:
    document = files.document(source.path, "json")
    if document is None:
        return Layer(source, ())
    hooks = Entries(source, files, SHAPE).grouped(document)
    return Layer(source, tuple(hooks))


def claim(path: str, document: Json) -> tuple[str, int]:
    return path, 3 if path.endswith("/.acme/settings.json") else 0


def _variables(_hook: Hook, project_dir: str, _session: str) -> dict[str, str]:
    return {"ACME_PROJECT": project_dir}


launch, names = in_a_shell(_variables)

DIALECT = Dialect(
    name="acme",
    title="Acme Code",
    files=(("user", "~/.acme/settings.json (ACME_HOME)"), ("project", ".acme/settings.json")),
    find=find,
    variables=("ACME_HOME",),
    load=load,
    shape=SHAPE,
    claim=claim,
    misplaced=(Misplaced("{project}/.acme/hooks.json", ".acme/settings.json"),),
    events=EVENTS,
    base=(Field("event", native_name), Field("chat", session), Field("folder", project)),
    match=names_or_pattern,
    launch=launch,
    names=names,
    replies={
        "command": Reply(
            read=whole_object,
            exits={0: "pass", 2: "block"},
            keys=(
                Key(("permit",), "bool", "block_unless", on=("pre_tool",)),
                Key(("why",), "string", "reason", on=("pre_tool",)),
                Key(("note",), "string", "messages"),
            ),
        )
    },
    limits=LIMITS,
    tools=tool_rows(HOST),
    scaffold=Scaffold(
        shape="groups",
        scripts={"project": "{project}/.acme/hooks", "user": "{root}/hooks"},
        command={"project": '"$ACME_PROJECT"/.acme/hooks/{file}', "user": "{script}"},
        tool="run",
    ),
)

# -- one hook that blocks


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, GUARD, REASON, Sample, grouped

    return Sample(
        event="before_tool",
        files={
            ".acme/settings.json": grouped("before_tool", "run", ".acme/hooks/guard"),
            ".acme/hooks/guard": GUARD,
        },
        tool="run",
        calls="before_tool",
        payload={"chat": "s", "tool": "run", "args": {"command": COMMAND}},
        stdout={"permit": False, "why": REASON},
    )
