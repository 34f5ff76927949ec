"""One agent, driven once: cut off from the network, led to a scripted model, bounded in time, and none of it left
running. `drive` starts a separate process for that, which runs this module."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any

from anyhook.extra.live.model_server import MODEL, ModelServer
from anyhook.extra.live.script import Step, script
from anyhook.extra.live.stage import Stage, fill, prepare, words_of
from anyhook.extra.live.wire import ModelReply
from anyhook.model.call import Call
from anyhook.model.record import Record
from anyhook.platform.network import leave
from anyhook.platform.other_programs import until_told
from anyhook.platform.run import adopt_orphans, end_all, run
from anyhook.platform.tree import Tree
from anyhook.tables import registry
from anyhook.tables.drive_rows import Drive
from anyhook.tables.host_rows import Host

GRACE_S = 30.0
"""What the process around an agent gets beyond the agent's own limit."""
PARENT_DEATH_SIGNAL = 1
TAIL = 4000
MARK = "ANYHOOK_LIVE_RUN"
TERMINAL = (sys.executable, "-P", "-m", "anyhook.platform.terminal")


class Request(Record):
    """One request to the model that offered tools."""

    text: str
    """All that the model was told."""
    answered: str
    """The tool that was called then; "" for none."""


class DriveResult(Record):
    """The result of one run."""

    network: str
    """"" if the agent had none; else why it could not be cut off."""
    ending: str
    exit_code: int | None
    stdout: str
    stderr: str
    duration_s: float
    requests: tuple[Request, ...]
    tools: tuple[str, ...]
    """What the agent offered to the model at last."""


def drive(
    agent: str,
    program: str,
    stage: Stage,
    steps: Sequence[Step],
    env: Mapping[str, str],
    *,
    prompt: str = "Please do what has to be done.",
    scenario: str = "",
    limit_s: float = 90.0,
    trusts_folder: bool = True,
    trusts_hooks: bool = False,
) -> DriveResult:
    """Runs the agent on the stage, with or without its leave to trust that folder, and hooks nobody has approved;
    `scenario` is how it is driven, where not as usual. In the steps' input `{project}` and `{helper}` stand for
    values."""
    asked = {
        "agent": agent,
        "program": program,
        "folder": stage.folder,
        "steps": [step.as_dict() for step in steps],
        "env": stage.env(env),
        "prompt": prompt,
        "scenario": scenario,
        "limit_s": limit_s,
        "trusts_folder": trusts_folder,
        "trusts_hooks": trusts_hooks,
    }
    # -P: the module is ours, whatever is in the current folder.
    words = [sys.executable, "-P", "-m", "anyhook.extra.live.drive"]
    answer = until_told(words, json.dumps(asked), limit_s + GRACE_S)  # not killed: it has the agent to end
    if answer.timed_out:
        return DriveResult("", "timed_out", None, "", "the run could not be ended in time", limit_s, (), ())
    try:
        found = json.loads(answer.out)
    except ValueError:
        return DriveResult("", "not_started", None, "", answer.err.decode("utf-8", "replace")[-TAIL:], 0.0, (), ())
    requests = tuple(Request(**one) for one in found["requests"])
    return DriveResult(**{**found, "requests": requests, "tools": tuple(found["tools"])})


def _perform(asked: dict[str, Any]) -> dict[str, Any]:
    """The run itself, in a separate process."""
    table, row = registry.host(asked["agent"]), _row(asked)
    if table.entry is None:
        raise ValueError(f"{table.name} has no entry")
    adopt_orphans()
    network = leave()
    stage = Stage(asked["folder"])
    places = {**stage.roots(table.entry), "helper": row.helper}
    steps = [_placed(Step(**step), places) for step in asked["steps"]]
    with ModelServer(script(steps, _names(table, row.tools), registry.special(table.name, "FILLED") or {})) as server:
        known = {**places, "url": server.url, "model": MODEL, "prompt": asked["prompt"]}
        prepare(stage, row, known)
        env = {**asked["env"], **{name: fill(value, known) for name, value in row.env.items()}}
        mark = f"{os.getpid()}-{os.urandom(6).hex()}"
        env[MARK] = mark
        if network:  # then at least what follows such variables stays here
            env.update(dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "https_proxy", "http_proxy"), "http://127.0.0.1:9"))
        argv = (*(TERMINAL if row.terminal else ()), asked["program"], *words_of(row, known))
        done = run(Call(argv, b"", env, stage.project, asked["limit_s"], f"{MARK}={mark}"))
        # Some leave a daemon behind; whatever became our child since is one.
        Tree(0, f"{MARK}={mark}", lambda _pid, _env: True).end()
        kept = [one for one in server.asked if one.schemas]
        answers = [server.answered.get(number, ModelReply()) for number, one in enumerate(server.asked) if one.schemas]
    return {
        "network": network,
        "ending": done.ending,
        "exit_code": done.exit_code,
        "stdout": done.stdout.decode("utf-8", "replace")[-TAIL:],
        "stderr": (done.error or done.stderr.decode("utf-8", "replace"))[-TAIL:],
        "duration_s": done.duration_s,
        "requests": [
            {"text": one.conversation, "answered": answer.calls[0].tool if answer.calls else ""}
            for one, answer in zip(kept, answers, strict=True)
        ],
        "tools": kept[-1].tools if kept else [],
    }


def _row(asked: dict[str, Any]) -> Drive:
    """How the agent is driven this time."""
    row = registry.drive(asked["agent"])
    if row is None:
        raise ValueError(f"there is no way to drive {asked['agent']} without a person")
    row = row.in_scenario(asked["scenario"])
    row = row.in_folder(row) if asked["trusts_folder"] else row
    return row.trusting(row) if asked["trusts_hooks"] else row


def _placed(step: Step, places: Mapping[str, str]) -> Step:
    return step.replace(input={field: fill(value, places) for field, value in step.input.items()})


def _names(table: Host, more: Mapping[str, tuple[str, ...]]) -> dict[str, list[str]]:
    """Our tool → what the agent may call it."""
    names: dict[str, list[str]] = {ours: list(theirs) for ours, theirs in more.items()}
    for native, tool in table.tools.items():
        names.setdefault(tool.ours, []).append(native)
    return names


def _end(number: int, _frame: FrameType | None) -> None:
    end_all(for_good=True)
    os._exit(128 + number)


def _end_with_parent() -> None:
    """If the caller is killed, what was started for it is still killed."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _end)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, int(signal.SIGTERM), 0, 0, 0)


if __name__ == "__main__":
    _end_with_parent()
    sys.stdout.write(json.dumps(_perform(json.load(sys.stdin))))
