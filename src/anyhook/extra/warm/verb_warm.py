"""`anyhook warm`: show or stop the server that keeps the command loaded."""

from __future__ import annotations

import os

from anyhook.cli import DONE, render
from anyhook.cli.options import JsonOptions, switch
from anyhook.cli.verbs import verb
from anyhook.extra.warm.client import ask, servers
from anyhook.extra.warm.place import is_wanted, socket_path
from anyhook.platform.places import NoPlace


class WarmOptions(JsonOptions):
    stop: bool = switch("--stop", "Stop the server after its current calls.")


@verb("warm", WarmOptions, "anyhook warm --stop")
def warm(options: WarmOptions) -> int:
    """Show the server that keeps anyhook loaded, so that an agent does not wait for Python to start.

    The native launcher starts it in the background with an agent's first call. It exits after ten minutes without a
    call. Answers are the same with and without it. `warm = "off"` in the settings, or ANYHOOK_WARM=off in the
    environment, turns it off.
    """
    paths = servers(os.environ)
    try:
        mine = socket_path(os.environ)  # a terminal has its own server, which comes first
        paths.sort(key=lambda path: path != mine)
    except NoPlace:
        pass
    found = [state for path in paths if (state := ask(path, stop=options.stop)) is not None]
    if options.json:
        state = found[0] if found and not options.stop else None
        render.json_out(
            {
                "running": state is not None,
                "pid": state.pid if state else None,
                "idle_s": state.idle_s if state else None,
                "workers": state.workers if state else 0,
            }
        )
        return DONE
    for state in found:
        if options.stop:
            render.out(f"Stopped the warm server (process {state.pid}).")
        else:
            render.out(
                f"The warm server runs: process {state.pid}, idle for {state.idle_s} s, {state.workers} workers."
            )
    if not found:
        render.out("No warm server runs." if is_wanted(os.environ) else "No warm server runs: it is turned off.")
    return DONE
