"""What the server knows besides its modules: it has judged a few lines once, so that what is built on first use is
there, and it keeps the plans that its workers have read."""

from __future__ import annotations

import binascii
import marshal
import os
from collections.abc import Mapping

from anyhook.engine.bridge import named, read
from anyhook.engine.engine import EngineOptions, open_engine
from anyhook.engine.routes import from_plan
from anyhook.engine.rules import RouteRules
from anyhook.guard.guard import refusal
from anyhook.model import lean_json
from anyhook.model.event import Event
from anyhook.model.json_types import Json
from anyhook.rules.calls import facts_of_event
from anyhook.state.plans import Setup, kept, read_plan
from anyhook.tables.registry import VARIABLES

SAMPLE_LINES = (
    "ls", "cd src && python -m pytest -q tests/test_a.py 2>&1 | tail -5", "rm -rf /nowhere/x", "git push --force",
    "cat > run.py <<'END'\nprint(1)\nEND\npython3 run.py", "for x in a b; do echo \"$x\" > $x.txt; done",
)  # fmt: skip
TURNS = 10
"""Python specialises code that has run eight times."""
MAX_TOOLS = 3
"""For how many of an agent's tools the server prepares."""
MAX_NEWS = 4000
"""The longest message that arrives in one piece."""


def practise() -> None:
    """Read a few lines. Nothing runs, and no file of a user is read."""
    env = {"HOME": "/nowhere", "PATH": os.defpath}
    try:
        for _ in range(TURNS):
            for line in SAMPLE_LINES:
                event = Event.pre_tool("Bash", {"command": line})
                facts_of_event(event, cwd="/nowhere", home="/nowhere", variables=env)
                refusal(event, env, "/nowhere")
    except Exception:  # noqa: BLE001 (a call that fails in the same way reports it)
        return


def news(words: list[str]) -> bytes:
    """What the server is told after a call that has read a plan from disk: which one; b"" if there is nothing new."""
    setups, kept.news[:] = kept.news[:], []
    if not setups or words[:1] != ["bridge"]:
        return b""
    setup = setups[-1]
    seen = [None if env is None else _named(env) for env in (setup.env, setup.given)]
    values = (
        (setup.project, seen[0], setup.dialects, setup.trust, setup.plugin_dirs, setup.state_dir, None, setup.outer),
        seen[1],
        words[1:3],
    )
    told = binascii.b2a_base64(marshal.dumps(values))
    return told if len(told) <= MAX_NEWS else b""


def _named(env: Mapping[str, str]) -> dict[str, str]:
    return {name: env[name] for name in VARIABLES if name in env}


def learn(told: bytes) -> bool:
    """Keep the plan that a worker names, and what calls of this kind need. False if that is not possible."""
    try:
        values, given, (agent, native) = marshal.loads(binascii.a2b_base64(told.strip(b".")))  # noqa: S302 (from our own worker)
        setup = Setup(*values).replace(given=given)
        before = kept.find(setup.key())
        plan = read_plan(setup)
        catalog = from_plan(plan)
        if catalog is None or catalog.made is None or plan is before:
            return False
        table, row = named(agent, native)
        engine = open_engine(EngineOptions(setup, one_shot=True, serves=table), catalog)
        routes, line = engine.context.routes, SAMPLE_LINES[1]
        for tool in [*table.tools][:MAX_TOOLS]:
            sample: dict[str, Json] = {"tool_name": tool, "tool_input": {"command": line}, "session_id": "-"}
            for event in read(table, row, lean_json.dumps(sample).encode(), 0.0, setup.env).received.events:
                steps = routes.find(event).steps
                routes.rule_indexes[id(steps)] = RouteRules(steps)
        engine.explain(Event.pre_tool("Bash", {"command": line}))  # it starts nothing, and compiles every pattern
    except Exception:  # noqa: BLE001 (then each worker reads it again)
        return False
    finally:
        kept.news.clear()
    return True
