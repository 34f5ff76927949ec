"""`anyhook serve`: the journal as a page in the browser, on this machine alone."""

from __future__ import annotations

import os
import socket
from secrets import token_urlsafe
from typing import TYPE_CHECKING

from anyhook.cli.failure import BadCall
from anyhook.cli.off_banner import here
from anyhook.cli.options import Options, option
from anyhook.cli.verbs import verb
from anyhook.cli.view import render
from anyhook.documents.places import state_dir

if TYPE_CHECKING:
    import socket


class ServeOptions(Options):
    port: str | None = option("--port", "The port; default: any free one.", "N")


@verb("serve", ServeOptions, "anyhook serve --port 8080")
def serve(options: ServeOptions) -> int:
    """Show the journal in the browser: events as they happen, search, single records, charts per hook. The page is
    served on this machine only, and only to those who have the printed address. Ctrl-C stops it."""
    port = _port(options.port or "0")
    try:
        from anyhook.cli.web import server
    except ImportError as error:
        raise BadCall(f"the page is not installed ({error}). Install it: pip install 'anyhook[web]'") from None
    at, token = _bound(port), token_urlsafe(24)
    with at:
        render.out(f"http://127.0.0.1:{at.getsockname()[1]}/{token}/")
        render.say("Serving the page. Ctrl-C stops it.")
        server.serve(state_dir(os.environ), token, at, here())
    return 0


def _port(given: str) -> int:
    if not (given.isascii() and given.isdecimal() and int(given) <= 65_535):
        raise BadCall(f"--port {given}: this must be a number from 1 to 65535, or 0 for one that is free.")
    return int(given)


def _bound(port: int) -> socket.socket:
    """Listening before the address is printed, so that whoever reads it can call at once."""
    at = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    at.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        at.bind(("127.0.0.1", port))
        at.listen()
    except OSError as error:
        at.close()
        raise BadCall(f"--port {port} cannot be used: {error.strerror}. Leave it out for one that is free.") from None
    return at
