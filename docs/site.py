"""What the site adds to the pages: the dialects in its navigation, and links to files that are not pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

OUTSIDE = re.compile(r"\]\((?:\.\./)+(?!dialects/)([A-Za-z][^)\s]*)\)")
PAGES = Path(__file__).parent
FOLDED = "All dialects"
"""A group inside a section is folded until somebody opens it."""


def on_config(config: Any) -> Any:
    """Put every dialect's page into the navigation, so that a new one needs no line there."""
    pages = sorted(path.name for path in (PAGES / "dialects").glob("*.md"))
    below = [item for section in config.nav for group in section.values() if isinstance(group, list) for item in group]
    for item in below:
        if isinstance(item, dict) and FOLDED in item:
            item[FOLDED] = [f"dialects/{name}" for name in pages]
    return config


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """Make links that leave the documentation go to the repository."""

    def linked(match: re.Match[str]) -> str:
        inside = (PAGES / Path(page.file.src_path).parent / match[0][2:-1].partition("#")[0]).resolve()
        if inside.is_relative_to(PAGES.resolve()):
            return match[0]
        return f"]({config.repo_url}/blob/main/{match[1]})"

    return OUTSIDE.sub(linked, markdown)
