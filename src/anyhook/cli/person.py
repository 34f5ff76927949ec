"""What only a person may do, and asking one. A process that an agent has started is none."""

from __future__ import annotations

import os
import sys

from anyhook.cli import BadCall, render
from anyhook.guard.below_agent import agent_above
from anyhook.model.words import RUN_VARIABLE


def require_person(verb: str) -> None:
    """Raises BadCall if an agent has started this process, whatever the line was that started it."""
    why = agent_above(os.environ)
    if why:
        raise BadCall(
            f"`anyhook {verb}` is for people, and an agent started this one: {why}. Nothing was changed."
            " Run it in your terminal, outside the agent."
        )


def require_terminal(why: str) -> None:
    """Raises BadCall if nobody can type an answer here, or a hook runs this."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or RUN_VARIABLE in os.environ:
        raise BadCall(f"{why} Run it at a terminal, outside the agent.")


def agreed(question: str, unchanged: str, instead: str, *, as_json: bool = False) -> bool:
    """Whether a person says yes. If nobody can be asked, `instead` says what to do. What is asked about
    may be on any of the three streams, so all of them must be a terminal."""
    if as_json or not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        render.say(f"{unchanged} {instead}")
        return False
    try:
        render.say(f"{question} [y/N]: ", end="")
        answer = sys.stdin.readline()
    except (KeyboardInterrupt, UnicodeDecodeError):
        answer = ""
    if not answer.endswith("\n"):
        render.say("")
    if answer.strip().lower() in ("y", "yes"):
        return True
    render.say(unchanged)
    return False


def may_change(question: str, *, yes: bool, as_json: bool) -> bool:
    """The same for a verb that has `--yes`."""
    return yes or agreed(question, "Nothing was changed.", "Add --yes, or call it in a terminal.", as_json=as_json)
