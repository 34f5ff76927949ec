"""One session of the agent: opens engine, model and conversation, runs turns, saves the conversation, and ends with its
hooks. The caller gets everything through callbacks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

import pydantic_ai
from pydantic_ai import Agent, ModelRequestNode, RunContext, UsageLimits, UserPromptNode
from pydantic_ai.capabilities import AbstractCapability, ProcessEventStream
from pydantic_ai.exceptions import ModelContextWindowExceededError
from pydantic_ai.messages import (
    AgentStreamEvent,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    UserContent,
    repair_messages,
)
from pydantic_ai.run import AgentRun

from anyhook.documents.files import Files
from anyhook.engine.engine import Engine, EngineOptions, open_engine
from anyhook.engine.match import Catalog
from anyhook.extra.agent.equipment import LOAD, Equipment, equip, loaded_in
from anyhook.extra.agent.models import (
    SCRIPT,
    Pause,
    SessionModel,
    explained,
    model_name,
    open_model,
    pause_for,
    spoken_name,
)
from anyhook.extra.agent.permission import Ask, Permission
from anyhook.extra.agent.prompts import COMPACT, attachments, cook, expanded, folders, recipe_text, with_images
from anyhook.extra.agent.settings import CONTEXT_WINDOW, BadSetup, SessionOptions, read_agent_settings
from anyhook.extra.agent.spent import Spent
from anyhook.extra.agent.tools import exit_code, tools
from anyhook.extra.frameworks.lifecycle import Announcer, Lifecycle, Observer
from anyhook.extra.frameworks.messages import final_text, from_plain, last_size
from anyhook.extra.frameworks.pydantic_ai import Hooked, Refused, TurnsExhausted
from anyhook.extra.frameworks.tool_calls import ToolRecord
from anyhook.gates.tell import telling
from anyhook.handlers.key_variables import key_names, without_keys
from anyhook.handlers.model_client import counts
from anyhook.model.firing import Firing
from anyhook.model.json_types import Json
from anyhook.platform.leftovers import VARIABLE as LEFTOVERS
from anyhook.platform.leftovers import end_commands, end_leftovers, now_s
from anyhook.platform.places import config_file, home_of, state_dir
from anyhook.state.conversations import Conversation, Conversations
from anyhook.state.plans import Setup
from anyhook.state.settings import read_settings

Stream = Callable[[AgentStreamEvent], None]
Said = Callable[[ModelMessage], None]

DONE, BLOCKED, REFUSED = "done", "blocked", "refused"
MAX_TURNS, ERROR, INTERRUPTED = "max_turns", "error", "interrupted"
KEEP_EVERY_S = 2.0
INSTRUCTIONS = (
    "You are a coding agent in the user's terminal. Look before you change anything, do what was asked and no more, "
    "check what you did, and say briefly what you did and what is open. A tool that was denied stays denied: read the "
    "reason and find another way, or say why there is none."
)


@dataclass
class TurnResult:
    """How one turn ended."""

    text: str = ""
    stop: str = DONE
    why: str = ""
    error: Exception | None = None
    """What `why` is about, where something failed."""


@dataclass
class Session:
    """A conversation with its engine, its model and its hooks."""

    options: SessionOptions
    observe: Observer | None = None
    log: Callable[[ToolRecord], None] = lambda record: None
    tell: Callable[[str], None] = lambda text: None
    ask: Ask | None = None
    """Asks a person for permission; None if there is nobody to ask."""
    before_tool: Callable[[str, dict[str, Json]], Awaitable[None]] | None = None
    """Called with a tool and its input just before it runs, after all permissions."""
    announce: Announcer | None = None
    stream: Callable[[AgentStreamEvent], None] | None = None
    """Called with the model's text and tool calls as they arrive; without it answers are not streamed."""
    said: Callable[[ModelMessage], None] | None = None
    """Called with each message of the agent and its sub-agents."""
    pauses: Callable[[Pause], None] = lambda pause: None
    """Called before a model is asked again."""
    debug: Callable[[Firing], None] | None = None
    """Called with every event that reached a hook, and everything that happened in it."""
    spent: Spent = field(default_factory=Spent)
    history: list[ModelMessage] = field(default_factory=list)
    equipment: Equipment = field(default_factory=Equipment)
    earlier_turns: int = 0
    """Answers of the model in the saved session."""
    _unkept: bool = False
    """Whether the user was told that the session cannot be saved."""
    _kept_s: float | None = None
    """When the conversation was last saved, on the monotonic clock; None if not yet in this turn."""

    def open(self) -> None:
        """Open everything, so that errors in the call show before any hook runs."""
        self.look()
        self.assemble()

    def look(self) -> None:
        """Find the model and the earlier conversation, before any hooks are read."""
        pydantic_ai.BANNER_ENABLED = False  # messages of the framework and of clients do not belong on this terminal
        logging.getLogger().addHandler(logging.NullHandler())
        options = self.options
        self.settings = read_agent_settings(options.env)
        if options.web_fetch:
            self.settings = replace(self.settings, web_fetch=True)
        self.model_name = model_name(options.model, options.env)
        self.config = read_settings(config_file(options.env), Files(), home_of(options.env))
        self.spent.max_cost = options.max_cost
        self.model = self._opened(self.model_name)
        self.kept = Conversations(state_dir(options.env), options.project)
        self.earlier = self._earlier()

    def assemble(self) -> None:
        """Put engine, hooks, model and tools together, with the current hooks. What hooks ask a model in tasks that are
        started after this counts as spent."""
        counts.set(self.spent.add)
        options, earlier = self.options, self.earlier
        self.engine = self._engine(earlier.id if earlier else None)
        self.resumed = earlier is not None
        if earlier is not None:
            self.history = repair_messages(ModelMessagesTypeAdapter.validate_python(earlier.messages))
        self.lifecycle = Lifecycle(self.engine, self._facts(), self.observe, self.announce)
        self.lifecycle.warned = True  # `start` reports it
        if earlier is not None:
            self.lifecycle.waiting.extend(earlier.waiting)
            self.earlier_turns = earlier.turns
        keys = key_names(self.config)
        self.env = {**without_keys(options.env, keys, self.settings.pass_env), LEFTOVERS: self.id}
        inner, *self.own_tools = tools(options.project, self.env, self.settings)
        self.hooked = Hooked(
            self.engine,
            self.lifecycle,
            gate=Permission(options.permission, self.ask),
            exit_code=exit_code,
            before_tool=self.before_tool,
            attachments=lambda prompt: attachments(prompt, options.project),
            log=self._called,
            recipes=self._recipe,
            auto_compact=self.settings.auto_compact,
            context_window=CONTEXT_WINDOW,
            max_turns=options.max_turns,
            wrapped=inner,
        )

    async def equip(self) -> None:
        """Get the agent ready for its turns, with what is approved now."""
        before, self.equipment = self.equipment, Equipment()
        await before.close()
        self.equipment = await equip(self.engine.setup, self.settings, self.env, self.tell)
        shared = [self.hooked, *self.own_tools, *listeners(self.stream, self.said)]
        self.agent: Agent[None, str] = Agent(
            self.model,
            name="agent",
            instructions=INSTRUCTIONS,
            capabilities=self.equipment.capabilities(shared, self._opened, self.tell),
        )
        self.use_skills(loaded_in(self.history))

    def _facts(self) -> dict[str, Json]:
        """The fields that all of its events have."""
        provider, _, model = self.model_name.partition(":")
        options = self.options
        return {
            "provider": provider,
            "model": model,
            "permission_mode": options.permission,
            "auto_approve": options.permission == "auto",
            "invoked_recipe": options.recipe or "",
        }

    def _opened(self, name: str) -> SessionModel:
        """A model that counts for this session and waits in its terminal."""
        found = open_model(name, self.config.providers, self.options.env)
        return SessionModel(found, self.spent, self._pauses)

    def _pauses(self, pause: Pause) -> None:
        self.tell(pause.line())
        self.pauses(pause)

    def _called(self, record: ToolRecord) -> None:
        if record.tool == LOAD and not record.denied:
            self.use_skills([str(record.input.get("id"))])
        self.log(record)

    def use_skills(self, names: Sequence[str]) -> None:
        """Mark these skills as used: their hooks run from now on."""
        before = self.lifecycle.facts.get("skills")
        used = [*(before if isinstance(before, list) else []), *names]
        if used:
            self.lifecycle.facts["skills"] = list(dict.fromkeys(map(str, used)))

    def _engine(self, session: str | None) -> Engine:
        # A provider's client belongs to one event loop, and a handler has its own loop, so it gets the name.
        spoken = spoken_name(self.model_name, self.config.providers, self.options.env)
        spare = self.model.wrapped if self.model_name.startswith(SCRIPT) else spoken
        options = self.options
        setup = Setup.of(
            options.project, dict(options.env), options.dialects, options.trust, options.plugin_dirs, options.state_dir
        )
        engine = open_engine(
            EngineOptions(setup, None, options.mode, session, "agent", spare_model=spare, hands_over=True),
            None if options.hooks else Catalog([], [], self.config, {}),
        )
        engine.context.recorder.listener = self.debug
        return engine

    def _earlier(self) -> Conversation | None:
        options = self.options
        identity = options.resume or (self.kept.latest() if options.follow else None)
        if identity is None:
            if options.follow:
                raise BadSetup("--follow: there is no earlier session in this project. Leave the option out.")
            return None
        found = self.kept.load(identity)
        if found is None:
            raise BadSetup(f"--resume {identity}: no such session in this project. `/resume` in a chat lists them.")
        return found

    @property
    def id(self) -> str:
        return self.engine.session

    @property
    def context_left(self) -> float:
        """The free fraction of the model's context."""
        most = self.model.context_window or CONTEXT_WINDOW
        return max(0.0, 1 - last_size(self.history) / most)

    # -- how the session starts and ends

    async def start(self, source: str = "") -> TurnResult:
        """Start the session, unless a hook refuses. Guards that are off are reported first."""
        off = telling(self.engine.setup, self.engine.catalog)
        if off:
            self.tell(off)
        decision = await self.lifecycle.begin(source or ("resume" if self.resumed else "startup"))
        if decision.stops and decision.effect == "abort":
            return TurnResult("", REFUSED, decision.reason or "")
        await self.equip()
        return TurnResult()

    async def end(self, reason: str, *, sweep: bool = False) -> None:
        """End the session with its hooks. `sweep` also kills what its commands and hooks left running. It is not used
        after a normal end, because the user may have asked for a server."""
        try:
            await self.lifecycle.end(reason)
        finally:
            await self.equipment.close()
            await self.engine.close()  # background hooks run in other processes up to their own limits
            if sweep:
                await asyncio.to_thread(end_leftovers, self.id)

    async def reread_hooks(self) -> None:
        """Use the hooks that are on disk and approved now, from the next turn on."""
        before = self.engine
        self.engine = self.lifecycle.engine = self._engine(self.id)
        await before.close()

    async def use_model(self, name: str) -> None:
        """Go on with another model, in the same session."""
        self.model, self.model_name = self._opened(name), name
        self.lifecycle.facts.update(self._facts())
        self.agent.model = self.model
        await self.reread_hooks()  # handlers that ask a model may ask this one

    # -- turns

    async def turn(self, prompt: str) -> TurnResult:
        """One prompt and everything that follows from it. The conversation is saved however it ends. If the model has a
        temporary failure, or the conversation is too long for it, it is asked again."""
        self._kept_s = None
        began_s = now_s()
        asked: str | Sequence[UserContent] | None = with_images(prompt, self.options.project, self.model, self.tell)
        compacted = False
        attempt = reached = 0
        while True:
            try:
                return await self._asked(asked)
            except Refused as refused:
                return TurnResult("", REFUSED, str(refused))
            except TurnsExhausted as exhausted:
                return TurnResult(final_text(self.history), MAX_TURNS, str(exhausted))
            except asyncio.CancelledError:
                await asyncio.to_thread(end_commands, self.id, began_s)
                raise
            except ModelContextWindowExceededError as error:
                if compacted or not await self._make_room():
                    return self._failed(error)
                compacted = True
            except Exception as error:  # noqa: BLE001 (whatever a model, a tool or a provider's client raises)
                if len(self.history) > reached:  # there was an answer since the last time
                    attempt, reached = 0, len(self.history)
                pause = pause_for(error, self.model, attempt, in_stream=True) if self.history else None
                if pause is None:
                    return self._failed(error)
                attempt += 1
                self._drop_unfinished()
                self._pauses(pause)
                await asyncio.sleep(pause.wait_s)
            finally:
                self.save()
            asked = None  # the prompt is in the history, and its hooks have seen it

    async def _asked(self, prompt: str | Sequence[UserContent] | None) -> TurnResult:
        """The model's answer to a prompt, or to what the history ends with."""
        limits = UsageLimits(request_limit=None)
        async with self.agent.iter(prompt, message_history=self.history, usage_limits=limits) as run:
            try:
                async for node in run:
                    self._keep(run, node)
                    self.spent.check()
            finally:
                # A turn may end between a tool call and its result; the next one continues from there.
                self.history = repair_messages(run.all_messages())
        text = run.result.output if run.result is not None else ""
        cut = self.lifecycle.cut_short
        return TurnResult(text, BLOCKED, cut.reason or "") if cut is not None else TurnResult(text)

    def _failed(self, error: Exception) -> TurnResult:
        return TurnResult(final_text(self.history), ERROR, self._told(error), error)

    def _drop_unfinished(self) -> None:
        """Drop an incomplete answer."""
        if isinstance(self.history[-1], ModelResponse):
            self.history.pop()

    async def _make_room(self) -> bool:
        """Compact the conversation before the last request. True if there is room now."""
        self._drop_unfinished()
        *said, last = self.history
        if not said or not isinstance(last, ModelRequest):
            return False
        self.tell("The conversation is too long for the model. It is compacted, and the model is asked again.")
        text = await self.hooked.compact(said, self.model, "auto", self.options.arguments)
        if text == "" and len(said) > 1:  # too long even for a summary: summarise its later half
            text = await self._recipe(COMPACT, self.options.arguments, said[len(said) // 2 :], self.model)
        if text:
            self.history = [*from_plain([{"role": "user", "content": text}]), last]
        return bool(text)

    async def compact(self, trigger: str = "manual") -> TurnResult:
        """Compact the conversation, unless a hook keeps it as it is."""
        if not self.history:
            return TurnResult("", ERROR, "there is nothing to compact")
        text = await self.hooked.compact(self.history, self.model, trigger, self.options.arguments)
        if not text:
            return TurnResult("", BLOCKED, "the conversation stays as it is")
        self.history = from_plain([{"role": "user", "content": text}])
        self.save()
        return TurnResult(text)

    async def run(self, prompt: str) -> TurnResult:
        """What `agent run` does between start and end."""
        recipe = self.options.recipe
        if recipe == COMPACT and self.resumed:
            return await self.compact()
        prompt = expanded(self, prompt)
        if recipe is not None:
            text = recipe_text(recipe, self.options.arguments, self.recipe_folders)
            prompt = f"{text}\n\n{prompt}".strip()
        return await self.turn(prompt)

    def _keep(self, run: AgentRun[None, str], node: object) -> None:
        """Save during a turn, so that even a killed agent can be resumed: before the model is first asked, and later
        only if writing is cheap enough."""
        asked = [node.request] if isinstance(node, ModelRequestNode) else []
        if asked if self._kept_s is None else monotonic() - self._kept_s > KEEP_EVERY_S:
            self.history = [*run.all_messages(), *asked]
            self.save()

    def save(self) -> None:
        self._kept_s = monotonic()
        messages: Json = ModelMessagesTypeAdapter.dump_python(self.history, mode="json")
        turns = self.earlier_turns + self.lifecycle.turns
        waiting = tuple(self.lifecycle.waiting)
        try:
            self.kept.save(Conversation(self.id, self.options.project, self.model.model_name, turns, waiting, messages))
        except OSError as error:
            if not self._unkept:
                self.tell(f"The session cannot be kept: {error}")
            self._unkept = True

    def _told(self, error: Exception) -> str:
        return explained(error, self.model)

    # -- recipes

    @property
    def recipe_folders(self) -> list[str]:
        return folders(self.options.project, self.options.env)

    async def _recipe(self, name: str, arguments: Mapping[str, Json], said: Sequence[ModelMessage], model: Any) -> str:
        """A recipe that a hook called. If anything goes wrong, the conversation is unchanged."""
        try:
            return await cook(recipe_text(name, arguments, self.recipe_folders), said, model)
        except Exception as error:  # noqa: BLE001 (a recipe is asked for by a hook, and no hook may break the run)
            why = self._told(error)
            self.tell(f"The recipe `{name}` did not work, and the conversation stays as it is: {why}")
            return ""


# -- what is said in a run: the agent's own words and its sub-agents', and the results of their tools, for those who
# show or report them as they come. Not the prompt, which the caller knows


def listeners(stream: Stream | None, said: Said | None) -> list[AbstractCapability[Any]]:
    """Who hears the events of a run as they come, and who its messages; None if nobody does."""
    found: list[AbstractCapability[Any]] = []
    if stream is not None:

        async def forward(_ctx: RunContext[Any], events: AsyncIterable[AgentStreamEvent]) -> None:
            async for event in events:
                stream(event)

        found.append(ProcessEventStream(forward))
    if said is not None:
        found.append(Overheard(said))
    return found


@dataclass
class Overheard(AbstractCapability[Any]):
    """One run's listener. It stands behind the hooks, so it sees a node's result before they do."""

    tell: Said
    """Called with each message once, or with what was added to one."""
    _known: dict[int, object] | None = None
    """The parts that were told, by id. None until the model is first asked: the caller knows what for."""

    async def for_run(self, ctx: RunContext[Any]) -> Overheard:
        return replace(self)

    async def before_node_run(self, ctx: RunContext[Any], *, node: Any) -> Any:
        if isinstance(node, ModelRequestNode):
            self._tell(node.request)
        return node

    async def after_node_run(self, ctx: RunContext[Any], *, node: Any, result: Any) -> Any:
        if not isinstance(node, UserPromptNode):
            said = getattr(result, "model_response", None) or getattr(result, "request", None)
            if said is not None:
                self._tell(said)
        return result

    def _tell(self, message: Any) -> None:
        known = self._known
        fresh = [part for part in message.parts if known is not None and id(part) not in known]
        self._known = {**(known or {}), **{id(part): part for part in message.parts}}
        if fresh:
            self.tell(replace(message, parts=fresh))
