"""How far a long reading has come, as a bar on the terminal; nothing where nobody looks."""

from __future__ import annotations

import shutil
import sys
import time

from anyhook.cli.view.bars import bar
from anyhook.cli.view.render import legible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def progress(what: str) -> Callable[[int, int], None]:
    """Says on a terminal how far a long reading has come, and wipes that out at the end."""
    shown = 0.0

    def tell(done: int, all_of_it: int) -> None:
        nonlocal shown
        if not sys.stderr.isatty() or (time.monotonic() - shown < 0.2 and done < all_of_it):
            return
        part = done / all_of_it if all_of_it else 1.0
        if part < 1.0:
            shown = time.monotonic()
            room = shutil.get_terminal_size((80, 24)).columns - len(f"{what}  100% ")
            sys.stderr.write(legible(f"\r{what} {bar(part, 1.0, max(1, min(30, room)))} {part:4.0%}"))
        elif shown:
            sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()

    return tell
