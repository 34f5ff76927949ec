"""The adapter's documented path."""

from anyhook.extra.frameworks.google_adk import *  # noqa: F403
