"""What keeps the agent from running, or a run from ending well: one sentence each, for the person who started it."""

from __future__ import annotations


class BadSetup(Exception):  # noqa: N818 (it says what is bad)
    """The call cannot be carried out as it is."""


class Failed(Exception):  # noqa: N818
    """The run failed on the way."""
