"""The decorators that say when a function is called. They do not change the function: anyhook reads them from the
source, where each argument must be a literal."""

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
    """Before or after a tool runs. `before("CONDITION")` takes any condition of the rule language; the methods are
    short forms of common ones. `unless`, `agents`, `tools`, `timeout` (seconds), `name` and `enabled` mean what they
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
"""Called before a tool runs: `before.run("git push --force")`, `before.write("migrations/**")`."""
after = When()
"""Called after a tool has run."""


def on(
    *events: str, unless: str = "", agents: Sequence[str] = (), timeout: float = 60.0, name: str = "",
    enabled: bool = True,
) -> Decorator[Any]:  # fmt: skip
    """Called on these events: `on("session_start")`."""
    return _as_it_is
