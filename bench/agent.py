"""What the agent costs: a tool call without a hook, compared with the same agent without the engine, and its start,
compared with importing the framework it is built on."""

from __future__ import annotations

import gc
import os
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.promises import Place, Row, cpu_of, high, ratio

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models.function import AgentInfo, FunctionModel

CALLS = 30
"""Tool calls in one turn; the framework's own cost per call grows with the conversation."""


def scripted(asked_at: list[float]) -> FunctionModel:
    """Reads one file again and again, then ends its turn. Notes the CPU time at each request."""
    from pydantic_ai.models.function import DeltaToolCall, FunctionModel

    asked = 0

    async def answer(_messages: list[ModelMessage], _info: AgentInfo) -> AsyncIterator[Any]:
        nonlocal asked
        asked += 1
        asked_at.append(time.process_time())
        if asked % (CALLS + 1) == 0:
            yield "Done."
        else:
            yield {0: DeltaToolCall("read_file", '{"path": "a.txt"}', tool_call_id=f"call-{asked}")}

    return FunctionModel(stream_function=answer)


async def tool_calls(folder: Path, rounds: int) -> list[Row]:
    """The same tools and the same script, with and without the engine."""
    from pydantic_ai import Agent, UsageLimits

    from anyhook.extra.agent.equipment import EXPLORE, GENERAL, Equipment
    from anyhook.extra.agent.permission import Permission
    from anyhook.extra.agent.settings import CONTEXT_WINDOW, THRESHOLD, AgentSettings
    from anyhook.extra.agent.tools import exit_code, tools
    from anyhook.extra.frameworks.pydantic_ai import Hooked
    from anyhook.journal import journal

    place = Place(folder)
    (place.project / "a.txt").write_text("one line\n")
    journal.LATER_S = 3600.0  # every line is written at the end of its turn, so that each turn pays for its own
    engine = place.engine()
    given = tools(str(place.project), place.env, AgentSettings())
    hooked = Hooked(
        engine,
        gate=Permission("auto"),
        exit_code=exit_code,
        auto_compact=THRESHOLD,
        context_window=CONTEXT_WINDOW,
        wrapped=given[0],
    )
    equipment = Equipment(types=[EXPLORE, GENERAL])
    asked_at: list[float] = []
    made: dict[str, list[AbstractCapability[Any]]] = {
        name: equipment.capabilities(shared, lambda _: scripted(asked_at), print)
        for name, shared in {"hooked": [hooked, *given[1:]], "alone": given}.items()
    }
    agents = {name: Agent(scripted(asked_at), capabilities=capabilities) for name, capabilities in made.items()}
    taken: dict[str, list[list[float]]] = {name: [] for name in agents}
    for number in range(max(20, rounds // 5) + 1):
        for name in sorted(agents, reverse=number % 2 == 0):
            gc.collect()  # otherwise one of them would sometimes collect the other's garbage
            asked_at[:] = [time.process_time()]
            result = await agents[name].run("Go.", usage_limits=UsageLimits(request_limit=None))
            engine.flush()  # the lines of the journal are part of what a turn costs
            asked_at.append(time.process_time())
            if result.output != "Done.":
                raise SystemExit(f"bench: the agent did not follow its script: {result.output}")
            if number:  # the first turn loads what the others reuse
                taken[name].append([after - before for before, after in pairwise(asked_at)])
    await engine.close()
    # Each step of a turn does the same in every turn. Its lowest time is its cost; the rest comes from a busy machine.
    cost = {name: sum(map(min, zip(*turns, strict=True))) for name, turns in taken.items()}
    pairs = sorted(sum(hooked) / sum(alone) for hooked, alone in zip(taken["hooked"], taken["alone"], strict=True))
    base = "pydantic-ai alone, step by step"
    return [Row("agent: tool call, no hook, CPU, lowest", base, cost["hooked"] / cost["alone"], high(pairs), 1.05)]


def start(folder: Path, rounds: int) -> list[Row]:
    """A session that a hook refuses ends before a model is asked."""
    place = Place(folder)
    place.write(".config/kode/config.yaml", "hooks:\n  session_start:\n    - exec: /bin/false\n")
    place.write("script.yaml", "steps:\n  - text: Never said.\n")
    command = str(Path(sys.executable).parent / "anyhook")
    model = f"script:{place.home / 'script.yaml'}"
    cases = {
        "run": ([command, "agent", "run", "Go.", "--model", model, "--project", str(place.project)], 2),
        "import": ([sys.executable, "-c", "import pydantic_ai"], 0),
    }
    taken: dict[str, list[float]] = {name: [] for name in cases}
    silence = os.open(os.devnull, os.O_WRONLY)
    for number in range(max(5, rounds // 40) + 1):
        for name, (argv, status) in cases.items():
            spent = cpu_of(argv, place.env, silence, status)
            if number:
                taken[name].append(spent)
    os.close(silence)
    ordered = {name: sorted(times) for name, times in taken.items()}
    return [
        ratio(
            "agent run, start without a model call, CPU", "import pydantic_ai", ordered["run"], ordered["import"], 1.3
        )
    ]
