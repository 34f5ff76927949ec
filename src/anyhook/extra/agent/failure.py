"""Errors that keep the agent from starting or finishing a run, each with a message for the user."""

from __future__ import annotations


class BadSetup(Exception):  # noqa: N818 (it says what is bad)
    """The call cannot be carried out."""


class Failed(Exception):  # noqa: N818
    """The run failed."""
