"""Where else an approval counts: in which worktrees and clones, and which it does not reach yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyhook.cli.view.visible import visible
from anyhook.state.repository import place_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anyhook.state.ledger import Ledger


def reach(project: str, here: bool) -> str:
    """Where else an approval counts that is given now."""
    place = place_of(project)
    if place is None or here:
        return " It counts for this folder only." if place else ""
    clones = " and clones" if place.origin else ""
    told = f" It also counts for the same files in other worktrees{clones} of this repository; `--here` prevents that."
    return told if clones else f"{told} {NO_ORIGIN}"


NO_ORIGIN = (
    "Clones need their own approval: this repository has no remote `origin`. Once it has one, `anyhook trust --yes` "
    "here lets the approval count in clones too."
)


def not_reached(ledger: Ledger, projects: Sequence[str]) -> list[str]:
    """For each folder that was approved before its repository had the `origin` that it has now: a sentence about it."""
    told: list[str] = []
    for project in projects:
        before, place = ledger.approvals.get(project), place_of(project)
        if before is None or place is None or not place.origin or all(item.here for item in before.items.values()):
            continue
        if before.place is None or before.place.origin != place.origin:
            told.append(
                f"{visible(project)}: approved before its remote `origin` was {visible(place.origin)}, so clones of "
                "that need their own approval. `anyhook trust --yes` here lets this one count there too."
            )
    return told
