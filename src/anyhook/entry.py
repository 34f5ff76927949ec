"""The entry point of the command. Calls that an agent waits for go straight to their verb; everything else loads the
full command line. Without `--debug` it never shows a traceback."""

from __future__ import annotations

import gc
import os
import sys

from anyhook.platform.kept_code import BRIDGE, keep, load
from anyhook.platform.launched import NO_ANSWER, Launcher, ready, take_mark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def main() -> None:
    """The command. It ends at once: shutting the interpreter down costs more than some hooks."""
    os._exit(run_command())


def run_command() -> int:
    """The command's exit status."""
    take_mark()
    mark = sys.argv.pop(1) if sys.argv[1:2] and sys.argv[1].startswith("--warm-") else ""  # the launcher's or server's
    words = sys.argv[1:]
    own = words[: words.index("--")] if "--" in words else words
    # The agent has its own `--debug`, in the format of the documents that describe it.
    debug = os.environ.get("ANYHOOK_DEBUG", "0") not in ("", "0") or ("--debug" in own and words[0] != "agent")
    then: Callable[[], None] | None = None
    try:
        then = _take_warm_mark(mark) if mark else None
        status = _status_of(words, debug=debug, may_ask_server=then is None)
    except KeyboardInterrupt:  # before anything else handles it
        status = _tell("interrupted\n", 130)
    except Exception as error:  # noqa: BLE001 (the last resort: a person gets a sentence, whatever went wrong)
        try:
            status = _give_up(error, debug)
        except Exception:  # noqa: BLE001 (a module that the report needs cannot be loaded)
            status = _tell(f"anyhook: it failed, and no guard was asked ({error!r}). Install anyhook again.\n")
        status = NO_ANSWER if words[:1] == ["bridge"] else status
    if status == NO_ANSWER:
        # The launcher gives an answer. Without it, most agents understand this status as a refusal.
        return NO_ANSWER if Launcher.can_answer else 2
    ready()
    keep()
    if then is not None:
        then()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        pass
    return status


def _take_warm_mark(mark: str) -> Callable[[], None] | None:
    """What to do after the answer. Without the satellite, every call is cold."""
    from anyhook.satellites import part

    launched = part("warm.launched")
    then: Callable[[], None] | None = launched.take_warm_mark(mark, _stand_in) if launched is not None else None
    return then


def _status_of(words: list[str], *, debug: bool, may_ask_server: bool) -> int:
    """Run the verb."""
    verb, status = words[0] if words else "", None
    if verb in ("fire", "bridge"):
        gc.disable()  # it would walk through every loaded module, and this process ends soon
    if verb == "bridge":
        load(BRIDGE, words[1] if len(words) > 1 else "")
        from anyhook.state.entry_places import fix_places

        fix_places(words, os.environ)
    if debug:
        from anyhook.cli.debug import show_steps

        show_steps()
    if verb in ("fire", "bridge"):
        if os.environ.get("ANYHOOK_WARM") == "on" and may_ask_server and not debug:
            from anyhook.satellites import part

            warm = part("warm.client")
            status = warm.call(words, os.environ) if warm is not None else None
        if status is None:
            status = _fast(verb, words[1:])
    elif verb == "status" and not debug:
        status = _status(words[1:])
    if status is None:
        from anyhook.cli.app import run

        status = run(words)
    return int(status)


def _stand_in(caller: int) -> int:
    """In a warm worker: the command for another process."""
    from anyhook.platform.launched import Started

    Started.process = str(caller)
    return run_command()


def _give_up(error: Exception, debug: bool) -> int:
    """An unexpected failure: print what, where, and what to do. A full disk under stdout is not our bug."""
    if debug:
        import traceback

        traceback.print_exception(error)
    if isinstance(error, OSError) and error.errno == 28 and error.filename is None:
        return _tell(f"anyhook: the answer could not be written: {error.strerror}\n")
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace is not None else "?"
    from anyhook.engine.failure_report import write_report

    report = write_report(error)
    where = f"The report is in {report}; please send it" if report else "Please report this"
    return _tell(f"anyhook could not go on: {type(error).__name__}: {error} (at {place}). {where}.\n")


def _tell(what: str, status: int = 1) -> int:
    try:
        sys.stderr.write(what)
    except (OSError, ValueError, AttributeError):
        pass
    return status


def _fast(verb: str, words: list[str]) -> int | None:
    """The exit status of a plain call of a verb that an agent waits for; None if the full command line has to look
    at it."""
    from anyhook.cli import BAD_CALL, BadCall
    from anyhook.cli.options import BridgeOptions, FireOptions, parse

    try:
        if verb == "fire":
            fired = parse(words, FireOptions, 1)
            if fired is None:
                return None
            from anyhook.cli.fire import fire

            return fire(fired[0][0], fired[1])
        bridged = parse(words, BridgeOptions, 2)
        if bridged is None:
            return None
        from anyhook.cli.bridge import bridge

        return bridge(bridged[0][0], bridged[0][1], bridged[1])
    except BadCall as error:
        from anyhook.cli import render

        render.say(f"anyhook {verb}: {error}")
        return BAD_CALL


def _status(words: list[str]) -> int | None:
    """The exit status of a call that printed the same a moment ago, for shell prompts; None if it has to be worked
    out."""
    from anyhook.state.kept_status import kept_status

    kept = kept_status(words)
    if kept is None:
        return None
    try:
        sys.stderr.write(kept[1])
        sys.stderr.flush()
        sys.stdout.buffer.write(kept[0].encode("utf-8", "backslashreplace"))
        sys.stdout.buffer.flush()
    except (OSError, ValueError, AttributeError):  # the reader is gone
        pass
    return kept[2]
