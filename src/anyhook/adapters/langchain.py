"""The adapter's documented path."""

from anyhook.extra.frameworks.langchain import *  # noqa: F403
