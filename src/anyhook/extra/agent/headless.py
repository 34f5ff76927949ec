"""One prompt without a terminal: start, turn, end, and the report. A signal ends the session with its hooks."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Collection
from typing import Any

from anyhook.cli import FINDINGS, BadCall, render
from anyhook.extra.agent.hook_debug import debug_lines, debugged
from anyhook.extra.agent.models import Pause
from anyhook.extra.agent.session import ERROR, INTERRUPTED, REFUSED, Session, TurnResult
from anyhook.extra.agent.settings import BadSetup, Failed, SessionOptions
from anyhook.extra.agent.status_line import StatusLine, nesting
from anyhook.extra.agent.stream_json import StreamJson
from anyhook.extra.agent.verb_agent import AgentOptions
from anyhook.extra.frameworks.tool_calls import ToolRecord
from anyhook.model import lean_json
from anyhook.model.decision import Decision
from anyhook.model.event import Event
from anyhook.model.firing import Firing
from anyhook.model.json_types import Json
from anyhook.platform.run import AnswerOnStdout

SIGNALS = {"SIGINT": "interrupted", "SIGTERM": "sigterm", "SIGHUP": "sighup"}
SHORT = 60
"""How many characters of each field of a tool's input are shown."""
REASONS = {"done": "completed", INTERRUPTED: "interrupted"}
STATUS = {"done": 0, "blocked": 0, REFUSED: 2, "max_turns": 1, ERROR: 1, INTERRUPTED: 130}


def on_signals(stop: Callable[[str], None]) -> None:
    """Call this with a reason where a signal asks for the end, from the event loop."""
    loop = asyncio.get_running_loop()
    for name, reason in SIGNALS.items():
        try:
            loop.add_signal_handler(getattr(signal, name), stop, reason)
        except (AttributeError, NotImplementedError, RuntimeError, ValueError):
            pass  # a system without this signal, or a thread that gets none


class Headless:
    """One run: what the user sees of it while it goes on, and its report."""

    def __init__(
        self,
        options: SessionOptions,
        say: Callable[[str], None],
        status: StatusLine,
        shown: Collection[str] = (),
        stream: StreamJson | None = None,
        *,
        keep: bool = True,
    ) -> None:
        """`shown` are the dialects whose hooks are shown in detail. `keep` is whether there will be a report: a long
        session has many events."""
        self.say, self.status, self.shown, self.stream, self.keep = say, status, shown, stream, keep
        self.told: set[tuple[str, str]] = set()
        self.events: list[dict[str, Json]] = []
        self.calls: list[dict[str, Json]] = []
        self.ended_by = ""
        self.doing: asyncio.Future[Any]
        self.session = Session(
            options, observe=self._event, log=self._call, tell=self.show, announce=status.begins, pauses=self._pauses,
            said=stream.said if stream is not None else None, debug=self._debug if shown else None,
        )  # fmt: skip

    def show(self, text: str) -> None:
        self.status.wipe()
        self.say(nesting() + text)

    def _pauses(self, pause: Pause) -> None:
        self.status.pauses(pause.wait_s)
        if self.stream is not None:
            self.stream.pauses(pause)

    def _debug(self, firing: Firing) -> None:
        for line in debug_lines(firing, self.shown):
            self.show(line)

    def _event(self, event: Event, decision: Decision) -> None:
        """What the hooks of an event did."""
        if self.keep:
            self.events.append(decision.as_dict())
        if self.stream is not None:
            self.stream.event(event)
        self.status.ends(event, decision)
        for message in decision.messages:
            self.show(message)
        if decision.verdict == "block" and decision.reason:
            shadow = "" if decision.enforced else " (shadow mode)"
            self.show(f"[{decision.hook}] {decision.effect}{shadow}: {decision.reason}")
        for text in decision.follow_ups:
            self.show(f"follow-up: {text}")
        fresh = [problem for problem in decision.problems if (problem.code, problem.what) not in self.told]
        self.told.update((problem.code, problem.what) for problem in fresh)
        for line in render.problem_lines(fresh):
            self.show(line)

    def _call(self, record: ToolRecord) -> None:
        """A finished tool call."""
        given = ", ".join(f"{key}={_short(value)}" for key, value in record.input.items())
        self.show(f"{record.tool}({given})" + (": denied" if record.denied else ""))
        if self.stream is not None:
            self.stream.called(record)
        if self.keep:
            self.calls.append(
                {"tool": record.tool, "input": record.input, "output": record.output, "denied": record.denied}
            )

    async def run(self, prompt: str) -> TurnResult:
        self.session.open()
        self.doing = work = asyncio.ensure_future(self._work(prompt))
        on_signals(self._stop)
        try:
            turn = await work
        except asyncio.CancelledError:
            self.ended_by = self.ended_by or SIGNALS["SIGINT"]  # the event loop got the signal first
            turn = TurnResult("", INTERRUPTED, f"the session was ended: {self.ended_by}")
        except BadSetup as error:
            turn = TurnResult("", ERROR, str(error))
        reason = self.ended_by or REASONS.get(turn.stop, turn.stop)
        broken_off = bool(self.ended_by) or turn.stop == ERROR
        self.doing = end = asyncio.ensure_future(self.session.end(reason, sweep=broken_off))
        try:
            await end
        except asyncio.CancelledError:  # a second signal: do not wait for the last hooks either
            turn = TurnResult(turn.text, INTERRUPTED, "the session was ended before its last hooks were through")
        if self.stream is not None:
            self.stream.ends(self.session, turn)
        return turn

    async def _work(self, prompt: str) -> TurnResult:
        turn = await self.session.start()
        if self.stream is not None:
            self.stream.begins(self.session)
        return turn if turn.stop == REFUSED else await self.session.run(prompt)

    def _stop(self, name: str) -> None:
        """End the turn and run the session's last hooks; a second signal ends these too."""
        self.ended_by = self.ended_by or name
        self.doing.cancel()

    def report(self, turn: TurnResult) -> dict[str, Json]:
        """The object of `--json`."""
        return {
            "session": self.session.id,
            "text": turn.text,
            "stop": turn.stop,
            "turns": self.session.lifecycle.turns,
            "tool_calls": list(self.calls),
            "events": list(self.events),
        }


# -- the verb


def run(prompt: str, options: SessionOptions, call: AgentOptions) -> int:
    """What `agent run` does with a checked call."""
    as_json, streams = call.json or call.output_format == "json", call.output_format == "stream-json"
    status = StatusLine(sys.stderr, {} if as_json else options.env)
    answer = AnswerOnStdout()
    stream = StreamJson(lambda line: answer.line(lean_json.dumps(line))) if streams else None
    headless = Headless(options, render.say, status, debugged(options.env, debug=call.debug), stream, keep=as_json)

    async def watched() -> TurnResult:
        async with status.shown():
            return await headless.run(prompt)

    with answer:
        try:
            turn = asyncio.run(watched())
        except BadSetup as error:
            raise BadCall(str(error)) from None
        except Failed as error:
            render.say(str(error))
            return FINDINGS
    if turn.why:
        render.say(f"{turn.stop}: {turn.why}")
    if as_json:
        render.json_out(headless.report(turn))
    elif turn.text and not streams:
        render.out(turn.text)
    return STATUS[turn.stop]


def _short(value: Json) -> str:
    text = value if isinstance(value, str) else lean_json.dumps(value)
    line = " ".join(text.split())
    return line if len(line) <= SHORT else f"{line[:SHORT]}…"
