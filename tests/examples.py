"""The number of examples for a property test."""

from __future__ import annotations

from hypothesis import settings


def examples(number: int) -> settings:
    """`number` in `make test-all`, which looks for new examples, and ten times as many in `make fuzz`. `make test` runs
    a fifth, always the same ones."""
    profile = settings.get_current_profile_name()
    return settings(max_examples={"search": number, "fuzz": number * 10}.get(profile, max(number // 5, 10)))
