"""`anyhook agent chat`: takes prompts and runs turns until the user exits or a signal ends it. However it ends, the
session's hooks run. Ctrl-C ends only a turn."""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import os
import shutil
from collections.abc import Coroutine
from typing import Any, TypeVar

from anyhook.cli import FINDINGS, BadCall, render
from anyhook.cli.catalog_input import setup_of
from anyhook.cli.verb_trust import approve_all
from anyhook.cli.view.console import BAD, FAINT, WARN, wants_colour
from anyhook.extra.agent.chat import approval, commands
from anyhook.extra.agent.chat.activity import Activity
from anyhook.extra.agent.chat.keyboard import ENDED, Keyboard, unechoed
from anyhook.extra.agent.chat.keyboard import INTERRUPTED as CTRL_C
from anyhook.extra.agent.chat.new_hook import Draft, DraftCheck
from anyhook.extra.agent.chat.screen import Screen, call_line, edit_lines, tilde
from anyhook.extra.agent.headless import SIGNALS, STATUS, on_signals
from anyhook.extra.agent.hook_debug import debugged
from anyhook.extra.agent.permission import ALWAYS, NO, ONCE
from anyhook.extra.agent.prompts import COMPACT
from anyhook.extra.agent.session import BLOCKED, DONE, INTERRUPTED, REFUSED, Session, TurnResult
from anyhook.extra.agent.settings import BadSetup, Failed, SessionOptions
from anyhook.extra.agent.status_line import INDENT, MODEL, nesting
from anyhook.extra.agent.undo import Snapshots
from anyhook.extra.agent.verb_agent import AgentOptions
from anyhook.extra.frameworks.messages import final_text
from anyhook.model.hook import ARMED, CHANGED, UNTRUSTED
from anyhook.model.json_types import Json
from anyhook.model.words import OwnScope
from anyhook.platform.places import state_dir
from anyhook.state.plans import Setup
from anyhook.tables.rows import Dialect

T = TypeVar("T")
USER_EXIT, RESUME = "user_exit", "resume"


class Chat:
    """One conversation in a terminal."""

    def __init__(self, options: SessionOptions, call: AgentOptions, prompt: str) -> None:
        self.options, self.call, self.prompt = options, call, prompt
        colour = wants_colour(options.env)
        self.screen = Screen(colour, options.env, options.project)
        self.screen.status.info = self.usage
        self.keyboard = Keyboard(f"{state_dir(options.env)}/agent/history", colour, self.usage)
        self.activity = Activity(self.screen, debugged(options.env, debug=call.debug))
        self.snapshots = Snapshots(options.project, _undo_folder(options), options.env)
        self.session: Session | None = None
        self.draft: tuple[Draft, Dialect, OwnScope, DraftCheck] | None = None
        """The hook that the model wrote last, until it is saved."""
        self.leaving = False
        self.ended_by = ""
        """The signal that ends the session, or ""."""
        self._working: asyncio.Task[Any] | None = None

    async def run(self) -> int:
        """The exit status."""
        work = asyncio.ensure_future(self._talk())

        def signalled(reason: str) -> None:
            if reason == SIGNALS["SIGINT"]:
                self.interrupt()
                return
            self.ended_by = reason
            work.cancel()

        on_signals(signalled)
        try:
            status = await work
        except asyncio.CancelledError:
            status = STATUS[INTERRUPTED]
        except OSError:  # the terminal is gone; a signal has said so, or will
            status = STATUS[INTERRUPTED]
            self.ended_by = self.ended_by or SIGNALS["SIGHUP"]
        finally:
            try:
                await self._end(self.ended_by or USER_EXIT)
            finally:
                self.snapshots.close()
        return status

    def setup(self) -> Setup:
        """Where the hooks of the call are."""
        return setup_of(self.call, self.call.trust)

    # -- the session

    async def _talk(self) -> int:
        session = self.make(self.options)
        session.look()
        try:
            await approval.ask_about_hooks(self)
        except BadCall as error:
            self.screen.prose(str(error), BAD)
        session.assemble()
        self.session = session
        refused = await self.start()
        if refused is not None:
            return refused
        if self.prompt or self.options.recipe:
            await self._first()
        while not self.leaving:
            await self._next()
        return STATUS[DONE]

    async def _first(self) -> None:
        """What the call itself asks for."""
        session, recipe = self.session, self.options.recipe
        assert session is not None  # noqa: S101 (it was opened)
        if recipe == COMPACT and session.resumed:
            await commands.carry_out(self, f"/{COMPACT}")
            return
        self.screen.line(f"> {self.prompt or f'recipe {recipe}'}")
        await self.take_turn(session.run(self.prompt))

    def make(self, options: SessionOptions) -> Session:
        return Session(
            options,
            observe=self.activity.ends,
            announce=self.screen.status.begins,
            pauses=lambda pause: self.screen.status.pauses(pause.wait_s),
            tell=lambda text: self.screen.prose(text, WARN, INDENT),
            ask=self.ask,
            stream=self.screen.stream,
            debug=self.activity.debug if self.activity.shown else None,
            before_tool=self.snapshots.before_tool,
        )

    async def start(self, source: str = "") -> int | None:
        """Greet, and start the session; returns the exit status if it does not start."""
        assert self.session is not None  # noqa: S101 (it was opened)
        self._greet(self.session)
        turn = await self.work(self.session.start(source), "the session to start")
        if turn is None:
            self.ended_by = "interrupted"
            return STATUS[INTERRUPTED]
        if turn.stop == REFUSED:
            self.screen.prose(f"The session was refused: {turn.why or 'a hook gave no reason'}", BAD)
            return STATUS[REFUSED]
        return None

    def _greet(self, session: Session) -> None:
        hooks = [hook for hook in session.engine.catalog.hooks if hook.scope != "builtin"]
        armed = sum(hook.status == ARMED for hook in hooks)
        waiting = sum(hook.status in (UNTRUSTED, CHANGED) for hook in hooks)
        told = f"{armed} hook{'' if armed == 1 else 's'}" if self.options.hooks else "hooks are off"
        told += f", {waiting} waiting for approval (/trust)" if waiting else ""
        verb = "goes on" if session.resumed else "starts"
        self.screen.prose(f"anyhook agent  {session.model_name}  {tilde(self.options.project, self.options.env)}")
        self.screen.prose(f"session {session.id} {verb}  {told}", FAINT)
        self.screen.prose("/help lists commands, Ctrl-C stops a turn, Ctrl-D ends the session", FAINT)
        self.screen.reminder(final_text(session.history))

    async def resume(self, identity: str | None, reason: str = RESUME) -> None:
        """Leave this session, and resume another, or start a new one without an identity. If that fails, this one
        continues."""
        after = self.make(dataclasses.replace(self.options, resume=identity, follow=False, recipe=None))
        after.open()
        await self._end(reason)
        self.session = after
        if await self.start(reason) is not None:
            self.leaving = True

    async def _end(self, reason: str) -> None:
        session = self.session
        if session is None:
            return
        async with self.screen.status.shown("the session to end"):
            await session.end(reason, sweep=bool(self.ended_by))
        if session.history:
            lead, command = "To continue this session:", f"anyhook agent chat --resume {session.id}"
            fits = len(f"{lead} {command}") < shutil.get_terminal_size((80, 24)).columns
            self.screen.line(f"{lead}{' ' if fits else chr(10)}{command}", FAINT)  # one that can be copied

    def usage(self) -> str:
        """What the session has used, and how much of the model's context is left."""
        session = self.session
        return f"{session.spent.brief()}, {session.context_left:.0%} context left" if session is not None else ""

    # -- prompts and turns

    async def _next(self) -> None:
        self.screen.settle()
        line = (await self.keyboard.line(commands.names(self), self.options.project)).strip()
        if line == ENDED:
            self.leaving = True
        elif line == CTRL_C:
            self.screen.line("Ctrl-D or /exit ends the session.", FAINT)
        elif commands.is_command(line):
            try:
                await commands.carry_out(self, line)
            except (BadCall, BadSetup, Failed) as error:
                self.screen.prose(str(error), BAD)
        elif line and self.session is not None:
            await self.take_turn(self.session.turn(line))

    async def take_turn(self, turn: Coroutine[Any, Any, TurnResult]) -> None:
        """One turn; says how it ended if that is not obvious."""
        self.snapshots.turn_begins()
        try:
            ended = await self.work(turn)
        except BadSetup as error:
            self.screen.prose(str(error), BAD)
            return
        finally:
            await self.snapshots.turn_ends()
        if ended is None:
            self.screen.line("Stopped.", WARN)
        elif ended.stop == BLOCKED:
            self.screen.prose(f"A hook ended the turn: {ended.why or 'it gave no reason'}", WARN)
        elif ended.stop != DONE:
            self.screen.prose(f"{ended.stop}: {ended.why}", BAD)

    async def work(self, work: Coroutine[Any, Any, T], waits_for: str = MODEL) -> T | None:
        """Run something that Ctrl-C can stop; None if it did."""
        task = asyncio.ensure_future(work)
        self._working = task
        try:
            async with self.screen.status.shown(waits_for):
                with unechoed():
                    return await task
        except asyncio.CancelledError:
            if self.ended_by:
                raise
            return None
        finally:
            self._working = None
            self.screen.settle()

    def interrupt(self) -> None:
        if self._working is not None:
            self.screen.interrupted()
            self._working.cancel()

    # -- questions

    async def ask(self, tool: str, given: dict[str, Json], reason: str, *, lasting: bool) -> str:
        """A person's answer to whether a tool may run."""
        indent = nesting() + INDENT
        self.screen.prose(f"{reason}:", WARN, indent)
        self.screen.asked = edit_lines(tool, given, self.options.project)
        for text, style in self.screen.asked:
            self.screen.line(text, style, indent + INDENT)
        if not self.screen.asked:
            self.screen.prose(call_line(tool, given), indent=indent + INDENT, hang=INDENT)
        always = ", [a]lways in this session" if lasting else ""
        known = {"y": ONCE, "yes": ONCE, "n": NO, "no": NO, "": NO, ENDED: NO}
        if lasting:
            known |= {"a": ALWAYS, "always": ALWAYS}
        while True:
            with self.screen.hold():
                answer = await self.keyboard.answer(f"Allow it? [y]es{always}, [N]o:", indent)
            if answer == CTRL_C:
                if self._working is not None:
                    self._working.cancel()
                return NO
            if answer in known:
                return known[answer]
            self.screen.line(f"Please answer y{', a' if lasting else ''} or n.", FAINT, indent)


def _undo_folder(options: SessionOptions) -> str:
    name = hashlib.sha256(options.project.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return f"{state_dir(options.env)}/agent/undo/{name}-{os.getpid()}"


def run(prompt: str, options: SessionOptions, call: AgentOptions) -> int:
    """What `agent chat` does with a checked call."""
    if call.trust_hooks:
        approve_all(call, call.trust)
    try:
        return asyncio.run(Chat(options, call, prompt).run())
    except BadSetup as error:
        raise BadCall(str(error)) from None
    except Failed as error:
        render.say(str(error))
        return FINDINGS
