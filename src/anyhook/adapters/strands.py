"""The adapter's documented path."""

from anyhook.extra.frameworks.strands import *  # noqa: F403
