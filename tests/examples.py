"""How many examples a property is tried on."""

from __future__ import annotations

from hypothesis import settings


def examples(number: int) -> settings:
    """`number` in `make test-all`, which looks for new ones, and ten times as many in `make fuzz`; a fifth, always the
    same, in `make test`."""
    profile = settings.get_current_profile_name()
    return settings(max_examples={"search": number, "fuzz": number * 10}.get(profile, max(number // 5, 10)))
