"""Pictures out of letters: bars and sparklines. They show proportions and no numbers."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

EIGHTHS = " ▏▎▍▌▋▊▉█"
LEVELS = "▁▂▃▄▅▆▇█"


def bar(value: float, most: float, width: int) -> str:
    """A bar as long as its share of the most, in eighths of a letter; anything above nothing shows."""
    eighths = round(width * 8 * value / most) if most > 0 else 0
    eighths = max(1 if value > 0 else 0, min(eighths, width * 8))
    return (EIGHTHS[-1] * (eighths // 8) + EIGHTHS[eighths % 8].strip()).ljust(width)


def sparkline(values: Sequence[int]) -> str:
    """One letter per value; a blank for nothing."""
    most = max(values, default=0)
    return "".join(LEVELS[(len(LEVELS) - 1) * value // most] if value else " " for value in values)
