"""What a `hooks.py` imports: hooks written in Python, next to the rules of a `hooks.toml`.

    from anyhook.hooks import Call, after, before, deny

    @before.write("migrations/**")
    def no_migrations(call: Call) -> None:
        if call.session.store.get("asked"):
            return
        deny("Migrations are generated. Change the models.")

A decorator says when, in the rule language; anyhook reads it without running the file. The function is called only if
the condition is true, in a separate process. `deny` and `ask` end the function; the others are collected.
"""

from __future__ import annotations

from anyhook.hooks.call import HookCall as Call
from anyhook.hooks.call import HookSession as Session
from anyhook.hooks.call import Programs as Facts
from anyhook.hooks.decide import ask, context, deny, rewrite, warn
from anyhook.hooks.when import after, before, on

__all__ = ["Call", "Facts", "Session", "after", "ask", "before", "context", "deny", "on", "rewrite", "warn"]


def __dir__() -> list[str]:
    return sorted(__all__)
