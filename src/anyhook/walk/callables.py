"""Hooks that are called in this process: callables of the embedding program, and built-in hooks of products. An
exception in one of them is that hook's failure."""

from __future__ import annotations

from sys import getrefcount

from anyhook.handlers import inside_hook
from anyhook.model.event import Event
from anyhook.model.hook import Hook
from anyhook.model.outcome import SILENT, STRENGTH, Failure, Outcome
from anyhook.walk.present import scene_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import SupportsIndex

    from anyhook.model.json_types import Json
    from anyhook.walk.context import Context
    from anyhook.walk.routes import Callback, HookStep
    from anyhook.walk.walk import Walk


def hook_of(event: str, callback: Callback, name: str, matcher: str | None) -> Hook:
    """A callable of the embedding program as a hook; ValueError if it cannot be one."""
    from inspect import iscoroutinefunction

    from anyhook.tables.patterns import check_pattern

    name = name or getattr(callback, "__qualname__", "callable")
    if iscoroutinefunction(callback):
        raise ValueError(f"{name} is a coroutine function; hooks of the program itself are called, not awaited")
    wrong = check_pattern(matcher)
    if wrong:
        raise ValueError(wrong)
    identity = f"inprocess:managed:{event}:{name}"
    return Hook(identity, name, "inprocess", "managed", name, (), "", "", event, (event,), matcher, "callable", {}, 0.0)


def first_answers(callbacks: tuple[Callback, ...], event: Event) -> list[object]:
    """Call them in turn until one answers or raises. Returns the answers so far; [] if all stay silent."""
    token = inside_hook.set(True)
    index = 0
    lent = _lent(event)
    try:
        for index, callback in enumerate(callbacks):
            answer = callback(lent)
            if type(lent) is Event or getrefcount(lent) > NOT_KEPT:
                lent = _lent(event)
            if answer is not None:
                return [None] * index + [answer]
    except Exception as error:  # noqa: BLE001 (one hook's failure is a value)
        return [None] * index + [error]
    finally:
        inside_hook.reset(token)
    return []


def acts(context: Context, step: HookStep, event: Event) -> bool:
    """Whether a built-in hook has anything to say."""
    return bool(step.dialect.builtin(step.hook.name).act(scene_of(context, event, step.dialect, step.row)))


def next_answer(walk: Walk, hook: Hook) -> Outcome:
    """What a callable of the embedding program asks for. The first may have been called before the walk."""
    if walk.answers:
        return _outcome_of(walk.answers.pop(0))
    return _outcome_of(_ask(walk.context.routes.callback(hook), walk.queue.seen))


def _ask(callback: Callback, event: Event) -> object:
    """What it returns, or the exception that it raises."""
    token = inside_hook.set(True)
    try:
        return callback(_lent(event))
    except Exception as error:  # noqa: BLE001 (one hook's failure is a value)
        return error
    finally:
        inside_hook.reset(token)


class Lent(Event):
    """The event for one callable. No other may see its changes, so the first look at the data makes it an ordinary
    event with a copy of them. Until then the object can be lent to the next one."""

    def _keep(self) -> Event:
        shared = DATA.__get__(self)
        object.__setattr__(self, "__class__", Event)
        try:
            DATA.__set__(self, _copied(shared))
        except RecursionError:  # nested more deeply than any tool's input
            pass
        return self

    @property  # type: ignore[misc]
    def data(self) -> dict[str, Json]:
        return self._keep().data

    def replace(self, **changes: object) -> Event:  # type: ignore[override]
        return self._keep().replace(**changes)

    def __eq__(self, other: object) -> bool:
        return self._keep() == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._keep())

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[object, ...]:
        return self._keep().__reduce_ex__(protocol)


DATA = Event.__dict__["data"]
NOT_KEPT = 2
"""How many references an object has that only its variable holds: the second is the count's own."""


def _lent(event: Event) -> Event:
    lent = Event(event.name, event.data, event.raw, event.hosted, event.ours, event.inputs, event.also)
    object.__setattr__(lent, "__class__", Lent)
    return lent


def _copied(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: item if type(item) is str else _copied(item) for name, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def _outcome_of(answer: object) -> Outcome:
    """What an answer asks for."""
    if answer is None:
        return SILENT
    if isinstance(answer, Exception):
        return Outcome(failure=Failure("exit", f"it raised {type(answer).__name__}: {answer}"))
    if not isinstance(answer, Outcome):
        return Outcome(failure=Failure("output", f"it returned {type(answer).__name__}, not an Outcome or None"))
    if answer.verdict not in STRENGTH:
        return Outcome(failure=Failure("output", f"it returned the verdict {answer.verdict!r}"))
    return answer
