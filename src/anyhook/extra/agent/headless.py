"""One prompt without a terminal: start, turn, end, and the report. A signal ends the session with its hooks. Only the
callbacks print something before the end."""

from __future__ import annotations

import asyncio
import signal
import sys
from typing import TYPE_CHECKING, Any

from anyhook.cli import FINDINGS, BadCall, render
from anyhook.extra.agent.hook_debug import debug_lines, debugged
from anyhook.extra.agent.session import ERROR, INTERRUPTED, REFUSED, Session, TurnResult
from anyhook.extra.agent.settings import BadSetup, Failed
from anyhook.extra.agent.status_line import StatusLine, nesting
from anyhook.extra.agent.stream_json import StreamJson
from anyhook.model import lean_json
from anyhook.platform.run import AnswerOnStdout

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from anyhook.extra.agent.models import Pause
    from anyhook.extra.agent.settings import SessionOptions
    from anyhook.extra.agent.verb_agent import AgentOptions
    from anyhook.extra.frameworks.lifecycle import Announcer
    from anyhook.extra.frameworks.tool_calls import ToolRecord
    from anyhook.model.decision import Decision
    from anyhook.model.event import Event
    from anyhook.model.firing import Firing
    from anyhook.model.json_types import Json

SIGNALS = {"SIGINT": "interrupted", "SIGTERM": "sigterm", "SIGHUP": "sighup"}
SHORT = 60
"""How many characters of each field of a tool's input are shown."""
REASONS = {"done": "completed", INTERRUPTED: "interrupted"}
STATUS = {"done": 0, "blocked": 0, REFUSED: 2, "max_turns": 1, ERROR: 1, INTERRUPTED: 130}


class Headless:
    """One run and its report."""

    def __init__(
        self,
        options: SessionOptions,
        say: Callable[[str], None],
        watch: Callable[[Event, Decision], None],
        keep: bool = True,
        called: Callable[[ToolRecord], None] = lambda record: None,
        announce: Announcer | None = None,
        stream: StreamJson | None = None,
        debug: Callable[[Firing], None] | None = None,
    ) -> None:
        """`keep` is whether there will be a report: a long session has many events. `called` gets each tool call
        once it is over, `announce` each event before its hooks run."""
        self.keep = keep
        self.events: list[dict[str, Json]] = []
        self.calls: list[dict[str, Json]] = []
        self.watch, self.say, self.called = watch, say, called
        self.ended_by = ""
        self.doing: asyncio.Future[Any]
        self.stream = stream
        self.session = Session(options, observe=self._event, log=self._call, tell=say, announce=announce, debug=debug)
        if stream is not None:
            self.session.said = stream.said

    def _event(self, event: Event, decision: Decision) -> None:
        if self.keep:
            self.events.append(decision.as_dict())
        if self.stream is not None:
            self.stream.event(event, decision)
        self.watch(event, decision)

    def _call(self, record: ToolRecord) -> None:
        self.called(record)
        if self.stream is not None:
            self.stream.called(record)
        if self.keep:
            self.calls.append(
                {"tool": record.tool, "input": record.input, "output": record.output, "denied": record.denied}
            )

    async def run(self, prompt: str) -> TurnResult:
        self.session.open()
        self.doing = work = asyncio.ensure_future(self._work(prompt))
        self._listen()
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

    def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        for number, reason in SIGNALS.items():
            try:
                loop.add_signal_handler(getattr(signal, number), self._stop, reason)
            except (AttributeError, NotImplementedError, RuntimeError, ValueError):
                pass  # a system without this signal, or a thread that gets none

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
    talk = Talk(debugged(options.env, debug=call.debug), StatusLine(sys.stderr, {} if as_json else options.env))
    answer = AnswerOnStdout()
    stream = StreamJson(lambda line: answer.line(lean_json.dumps(line))) if streams else None
    headless = Headless(
        options, talk.show, talk.event, keep=as_json, called=talk.call, announce=talk.status.begins, stream=stream,
        debug=talk.debug if talk.shown else None,
    )  # fmt: skip

    def pauses(pause: Pause) -> None:
        talk.status.pauses(pause.wait_s)
        if stream is not None:
            stream.pauses(pause)

    headless.session.pauses = pauses

    async def watched() -> TurnResult:
        async with talk.status.shown():
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


class Talk:
    """Shows the user what the hooks do while the agent works."""

    def __init__(self, shown: Collection[str], status: StatusLine) -> None:
        """`shown` are the dialects whose hooks are shown in detail."""
        self.shown, self.status = shown, status
        self.told: set[tuple[str, str]] = set()

    def show(self, text: str) -> None:
        self.status.wipe()
        render.say(nesting() + text)

    def debug(self, firing: Firing) -> None:
        for line in debug_lines(firing, self.shown):
            self.show(line)

    def event(self, event: Event, decision: Decision) -> None:
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

    def call(self, record: ToolRecord) -> None:
        """One line about a finished tool call."""
        given = ", ".join(f"{key}={_short(value)}" for key, value in record.input.items())
        self.show(f"{record.tool}({given})" + (": denied" if record.denied else ""))


def _short(value: Json) -> str:
    text = value if isinstance(value, str) else lean_json.dumps(value)
    line = " ".join(text.split())
    return line if len(line) <= SHORT else f"{line[:SHORT]}…"
