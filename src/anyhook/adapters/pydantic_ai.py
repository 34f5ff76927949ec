"""The adapter's documented path."""

from anyhook.extra.frameworks.pydantic_ai import *  # noqa: F403
