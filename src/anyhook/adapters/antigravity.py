"""The adapter's documented path."""

from anyhook.extra.frameworks.antigravity import *  # noqa: F403
