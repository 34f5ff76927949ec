"""What the site adds to the pages: the agents and dialects in its navigation, what a search finds first, and links to
files that are not pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

OUTSIDE = re.compile(r"\]\((?:\.\./)+(?!dialects/)([A-Za-z][^)\s]*)\)")
PAGES = Path(__file__).parent
FOLDED = {"All dialects": "dialects", "All agents": "hosts"}
"""Groups inside a section, which are folded until somebody opens them, and their folders."""
FIRST = ("install.md", "refused.md", "team.md", "remove.md")
"""What somebody who searches most likely wants."""


def on_config(config: Any) -> Any:
    """Put every agent's and dialect's page into the navigation, so that a new one needs no line there."""
    below = [item for section in config.nav for group in section.values() if isinstance(group, list) for item in group]
    for item in below:
        for name in item if isinstance(item, dict) else ():
            if name in FOLDED:
                item[name] = sorted(f"{FOLDED[name]}/{path.name}" for path in (PAGES / FOLDED[name]).glob("*.md"))
    return config


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """Make links that leave the documentation go to the repository."""
    if page.file.src_path in FIRST:
        page.meta["search"] = {"boost": 3}

    def linked(match: re.Match[str]) -> str:
        inside = (PAGES / Path(page.file.src_path).parent / match[0][2:-1].partition("#")[0]).resolve()
        if inside.is_relative_to(PAGES.resolve()):
            return match[0]
        return f"]({config.repo_url}/blob/main/{match[1]})"

    return OUTSIDE.sub(linked, markdown)
