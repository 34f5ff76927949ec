"""The command's way in. Calls that an agent waits for go straight to their verb; everything else loads the full command
line. It never shows a traceback."""

from __future__ import annotations

import sys


def main() -> None:
    words = sys.argv[1:]
    status: int | None = None
    if words[:1] == ["fire"]:
        status = _fast(words[1:])
    if status is None:
        from anyhook.cli.app import run

        status = run(words)
    _leave(status)


def _fast(words: list[str]) -> int | None:
    """The exit status of a plain `fire` call; None where the full command line has to look at it."""
    from anyhook.cli.failure import BAD_CALL, BadCall
    from anyhook.cli.fire import fire
    from anyhook.cli.options import FIRE, parse
    from anyhook.grammar.registry import DIALECTS

    parsed = parse(words, FIRE)
    if parsed is None or len(parsed[0]) != 1 or any(name not in DIALECTS for name in parsed[1]["dialect"] or ()):  # type: ignore[union-attr]
        return None
    try:
        return fire(parsed[0][0], parsed[1])
    except BadCall as error:
        sys.stderr.write(f"anyhook fire: {error}\n")
        return BAD_CALL


def _leave(status: int) -> None:
    """Leave at once: taking the interpreter apart costs more than some hooks."""
    import os

    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        pass
    os._exit(status)
