"""Real payloads, round trip: a captured payload is received as its agent's table says and presented to a hook of the
same agent's dialect, and must be the same. Nothing is started here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from anyhook.agents.codex import ALLOWED
from anyhook.engine.express import completed, express
from anyhook.engine.interpret import interpret
from anyhook.engine.merge import judge
from anyhook.engine.present import payload
from anyhook.engine.receive import receive
from anyhook.engine.settle import settle
from anyhook.model.call import Run
from anyhook.model.decision import Decision
from anyhook.model.event import Event
from anyhook.model.hook import Hook
from anyhook.model.json_types import Json
from anyhook.model.lean_json import encode
from anyhook.tables.host_rows import EFFECTS
from anyhook.tables.registry import DIALECTS, INSTALLABLE, dialect, host
from anyhook.tables.rows import Scene
from anyhook.tables.translate import to_native
from captured import BY_FOLDER, DATA, received
from each_of import each_of

AGENTS = tuple(name for name in DIALECTS if name in INSTALLABLE)
CAPTURED = {name: paths for name, paths in BY_FOLDER.items() if name in AGENTS}
MADE = {
    "timestamp", "turn_id", "transcript_path", "transcriptPath", "agent_transcript_path", "cwd", "working_dir",
    "permission_mode", "stop_hook_active", "agent_id", "workspace_roots", "workspaceRoot", "workspacePaths",
    "project_path", "working_directory", "loop_count", "workspaceRoots",
}  # fmt: skip
"""Keys whose values differ here: times, our own files, or values that only the product has."""
OWN_SHAPE = {"tool_response", "toolResult", "tool_output", "tool_result", "error"}
"""Keys under which an agent sends each tool's result in the tool's own shape."""


def exceptions(path: Path, sign: str) -> set[str]:
    """The keys in `_keys.txt` next to the payloads. `-` marks keys that only this agent can send: our hooks do not get
    them, or get something similar. `+` marks keys that the agent documents but did not send."""
    file = path.parent / "_keys.txt"
    words = file.read_text().split() if file.exists() else []
    return {word[1:] for word in words if word[0] == sign}


def presented(path: Path) -> tuple[dict[str, Any], dict[str, Json]]:
    """A captured payload, and the one that a hook of the same dialect gets from us."""
    _, row, given, _, found = received(path)
    table = dialect(path.parent.name)
    native = table.row(row.native)
    assert native is not None, f"{row.native} is an event of the product and none of its dialect"
    event = to_native(found.events[0], table)
    scene = Scene(event, native.native, "/project", str(event.data["session"]), {}, {})
    return given, json.loads(encode(payload(table, native, scene)))


@each_of("agent", CAPTURED)
def test_a_hook_gets_what_the_agent_gives(agent: str) -> None:
    heard = [path for path in CAPTURED[agent] if received(path)[4].events]
    assert heard
    for path in heard:
        given, made = presented(path)
        ignored, more = exceptions(path, "-"), exceptions(path, "+")
        assert set(given) - set(made) - ignored == set(), f"{path}: the agent gives these, and we do not"
        assert set(made) - set(given) - MADE - more == set(), f"{path}: we give these, and the agent does not"
        for key in set(given) & set(made) - MADE - OWN_SHAPE - ignored:
            assert made[key] == given[key], (path, key)


def test_other_events_are_told_of() -> None:
    """Every captured event without a canonical event either repeats a tool call or is known to be specific to the
    product."""
    others = [path for paths in CAPTURED.values() for path in paths if not received(path)[1].canonical]
    assert others
    for path in others:
        row, name = received(path)[1], path.parent.name
        alone = {event.native for event in host(name).events if not event.canonical}
        assert dialect(name).row(row.native) is not None or row.native in alone, path


HOOK = Hook("x:user:E:h", "h", "x", "user", "/f", (), "/", "", "", (), None, "command", {}, 1.0)
ASKED: dict[str, dict[str, Any]] = {
    "block": {"verdict": "block", "reason": "because"},
    "ask": {"verdict": "ask", "reason": "because"},
    "allow": {"verdict": "allow", "reason": "because"},
    "input": {"tool_input": {"command": "new"}},
    "output": {"tool_output": "new"},
    "prompt": {"prompt": "new"},
    "context": {"context": ("more",)},
    "message": {"messages": ("hear",)},
    "end_turn": {"end_turn": True, "reason": "because"},
}


MORE_THAN_ITS_DOCUMENT = {("kolega", "post_tool_failure", "output")}
"""Effects that a released product was seen to honour but that its dialect's document does not have."""


@each_of("agent", AGENTS)
def test_what_the_agent_honours_its_dialect_reads(agent: str) -> None:
    """The answer that asks an agent for an effect is also an answer that its own hooks use to ask us for it."""
    assert set(ASKED) <= set(EFFECTS)
    cases = [(said, name, effect) for said in host(agent).events for name in said.canonical for effect in said.says]
    assert cases
    for said, canonical, effect in cases:
        if (agent, canonical, effect) in MORE_THAN_ITS_DOCUMENT:
            continue
        table = dialect(agent)
        row = table.row(said.native)
        assert row is not None, said.native
        asked = Decision(canonical, **{"effect": row.block, **ASKED[effect]})
        answer = express(settle(asked, said.says, "here").effects, said.says)
        answer = answer if said.silence is None else completed(answer, said.silence)
        run = Run("exited", answer.status, answer.stdout.encode(), answer.stderr.encode(), 0, 0.0)
        outcome = interpret(HOOK, table.replies["command"], canonical, run)
        outcome = judge(HOOK, table, row, outcome, "native", {})
        assert outcome.failure is None, (said.native, canonical, effect)
        for field, value in ASKED[effect].items():
            if field != "reason" or effect in ("block", "ask"):
                assert getattr(outcome, field) == value, (said.native, canonical, effect, field, answer)


@each_of("agent", AGENTS)
def test_an_agent_that_calls_us_runs_its_own_hooks(agent: str) -> None:
    table = host(agent)
    assert {scope for scope, _ in dialect(agent).files} - {"sub-agent", "skill"} <= set(table.reads.get(agent, ()))
    assert receive(table, table.events[0], {}, b"{}").events[:1] in [
        (),
        (Event(table.events[0].canonical[0], dict(table.events[0].fixed), b"{}", hosted=True),),
    ]


def test_codex_answers_are_checked_by_the_published_schemas() -> None:
    """The keys that its dialect allows at each event are exactly those of the schemas."""
    schemas: dict[str, Any] = json.loads((DATA / "codex-output-schemas.json").read_text())
    names = {row.native: row.canonical[0] for row in dialect("codex").events}
    found = {}
    for native, canonical in names.items():
        dashed = "".join(f"-{char.lower()}" if char.isupper() else char for char in native).strip("-")
        schema = schemas.get(f"{dashed}.command.output", {})
        inner = [
            tuple(sorted(part["properties"]))
            for name, part in schema.get("definitions", {}).items()
            if name.endswith("HookSpecificOutputWire")
        ]
        found[canonical] = (tuple(sorted(schema.get("properties", ()))), inner[0] if inner else ())
    assert found == {event: (tuple(sorted(top)), tuple(sorted(inner))) for event, (top, inner) in ALLOWED.items()}
