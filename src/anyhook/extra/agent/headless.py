"""One prompt without a terminal: start, turn, end, and the report. A signal ends the session with its hooks. Only the
callbacks print something before the end."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING, Any

from anyhook.extra.agent.failure import BadSetup
from anyhook.extra.agent.session import ERROR, INTERRUPTED, REFUSED, Session, TurnResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from anyhook.extra.agent.options import SessionOptions
    from anyhook.extra.agent.stream_json import StreamJson
    from anyhook.extra.frameworks.lifecycle import Announcer
    from anyhook.extra.frameworks.tool_calls import ToolRecord
    from anyhook.model.decision import Decision
    from anyhook.model.event import Event
    from anyhook.model.firing import Firing
    from anyhook.model.json_types import Json

SIGNALS = {"SIGINT": "interrupted", "SIGTERM": "sigterm", "SIGHUP": "sighup"}
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
