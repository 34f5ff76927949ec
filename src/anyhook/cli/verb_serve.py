"""`anyhook serve`: the journal as a page in the browser, on this machine only."""

from __future__ import annotations

import os
from secrets import token_urlsafe

from anyhook.cli import render
from anyhook.cli.journal_input import FromOption, folder_of, index_of
from anyhook.cli.options import option
from anyhook.cli.ports import bound, port_of
from anyhook.cli.standing import standing_of
from anyhook.cli.verbs import of_extra, verb
from anyhook.guard.below_agent import agent_above


class ServeOptions(FromOption):
    port: str | None = option("--port", "The port; default: any free one.", "N")


@verb("serve", ServeOptions, "anyhook serve --port 8080")
def serve(options: ServeOptions) -> int:
    """Show the journal in the browser: events as they happen, search, single records, charts per hook. The page is
    served on this machine only, and only to those who have the printed address. A person can answer there what hooks
    ask (`[ask]` in the settings). Ctrl-C stops it."""
    port, folder = port_of(options.port or "0"), folder_of(options)
    server = of_extra("anyhook.cli.web.server", "web", "the page is not installed")
    at, token = bound(port), token_urlsafe(24)
    with at:
        render.out(f"http://127.0.0.1:{at.getsockname()[1]}/{token}/")
        render.say("Serving the page. Ctrl-C stops it.")
        why = agent_above(os.environ)
        closed = f"Nobody can answer here, because an agent started this page: {why}." if why else ""
        # Whether guards are on can be asked on this machine only.
        standing = standing_of(os.getcwd(), os.environ) if options.from_ is None else lambda: (False, "")
        server.serve(folder, token, at, standing, closed, index_of(options, folder))
    return 0
