"""Times as people write them: `2h`, `yesterday`, `2026-11-15`, `2026-11-15T10:30`. It knows no journal."""

from __future__ import annotations

from datetime import datetime, timedelta

TIME_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
LATEST_NS = 2**63 - 1
"""In 2262; what reads the journal keeps times in 64 bits."""
FORMS = "90s, 30m, 2h, 3d, 1w (that long ago), today, yesterday, 2026-11-15, 2026-11-15T10:30"


def parse_time(text: str, now: datetime) -> int:
    """Nanoseconds since 1970; ValueError with the forms that are known."""
    word = text.strip().lower()
    if word[:-1].isdigit() and word[-1:] in TIME_UNITS:
        try:
            return _ns(now - timedelta(seconds=int(word[:-1]) * TIME_UNITS[word[-1]]))
        except OverflowError:
            return 0  # so long ago that everything is younger
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if word == "now":
        return _ns(now)
    if word in ("today", "yesterday"):
        return _ns(midnight - timedelta(days=word == "yesterday"))
    try:
        return _ns(datetime.fromisoformat(text.strip()))
    except (ValueError, OverflowError, OSError):
        raise ValueError(f"{text!r} is not a time. Known: {FORMS}.") from None


def seconds_of(text: str) -> int:
    """A duration such as `7d`; ValueError with the forms that are known."""
    word = text.strip().lower()
    if not word[:-1].isdigit() or word[-1:] not in TIME_UNITS or not 0 < int(word[:-1]) < 10**6:
        raise ValueError(f"{text!r} is not a duration. Known: 90s, 30m, 2h, 7d, 1w.")
    return int(word[:-1]) * TIME_UNITS[word[-1]]


def _ns(at: datetime) -> int:
    """A moment without a zone is in the zone of this machine."""
    return min(int(at.timestamp() * 1e9), LATEST_NS)
