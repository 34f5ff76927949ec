"""A hook that runs in the agent's own process: no start-up time, and the project's own code at hand."""

from kolega_code.hooks import HookOutcome

MARKS = ("AWS_SECRET", "BEGIN PRIVATE KEY")


def no_secrets(event):
    """Refuses to write a file with something secret in it."""
    text = str(event.payload.get("tool_input", {}))
    for mark in MARKS:
        if mark in text:
            return HookOutcome.deny(f"Refusing to write {mark} to disk.")
    return HookOutcome.empty()
