"""The decorators: when a function is asked. They change nothing about a function: anyhook reads them from the source,
and each argument has to be a plain text there."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeVar

    Function = TypeVar("Function", bound=Callable[..., None])
    Decorator = Callable[[Function], Function]


def _as_it_is(function: Any) -> Any:
    return function


class When:
    """A moment: before or after a tool runs. `when("CONDITION")` takes any condition of the rule language; the methods
    are short for its usual ones. `unless`, `agents`, `tools`, `timeout` (seconds), `name` and `enabled` mean what they
    mean for a rule."""

    def __call__(
        self, condition: str, *, unless: str = "", agents: Sequence[str] = (), tools: Sequence[str] = (),
        timeout: float = 60.0, name: str = "", enabled: bool = True,
    ) -> Decorator[Any]:  # fmt: skip
        return _as_it_is

    def _named(
        self, *words: str, unless: str = "", agents: Sequence[str] = (), tools: Sequence[str] = (),
        timeout: float = 60.0, name: str = "", enabled: bool = True,
    ) -> Decorator[Any]:  # fmt: skip
        return _as_it_is

    run = read = write = delete = change = touch = connect = tool = _named


before = When()
"""Asked before a tool runs: `before.run("git push --force")`, `before.write("migrations/**")`."""
after = When()
"""Asked after a tool has run."""


def on(
    *events: str, unless: str = "", agents: Sequence[str] = (), timeout: float = 60.0, name: str = "",
    enabled: bool = True,
) -> Decorator[Any]:  # fmt: skip
    """Asked on these events: `on("session_start")`."""
    return _as_it_is
