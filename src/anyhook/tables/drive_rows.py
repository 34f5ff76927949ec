"""The row type for driving an agent: how its own program is started without a person, against our scripted model.
Nothing here starts anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from anyhook.model.json_types import Json
from anyhook.model.record import Record

ASKING, FULL, DELEGATING, TERMINAL = "asking", "full", "delegating", "terminal"
"""Scenarios: it asks before a tool runs, with no person to answer; it compacts its conversation; it has sub-agents; it
runs in front of a person."""
KEY = "sk-not-a-real-key"
PROVIDER = "anyhook_live"
"""The name of the scripted model's provider, for agents that need one, and its key."""

# In every text of a row `{home}`, `{project}` and the roots of the host's entry stand for folders, `{url}` for the
# scripted model's address, `{model}` for its name and `{prompt}` for what the agent is told.


class Drive(Record):
    """How one agent is driven."""

    words: tuple[str, ...]
    """What follows the program."""
    env: Mapping[str, str] = {}
    carries: tuple[str, ...] = ()
    """More of the user's files and folders that affect whether hooks run: settings, trust. No credentials."""
    writes: Mapping[str, Json] = {}
    """Path → text of files that lead the agent to the scripted model; what is not text is written as JSON."""
    appends: Mapping[str, str] = {}
    """Path → text that does the same at the end of a file that may be the user's."""
    sets: Mapping[str, Mapping[str, Json]] = {}
    """Path → dotted key → value, in a JSON or TOML file that may be the user's."""
    in_folder: Callable[[Drive], Drive] = lambda drive: drive
    """Makes the agent trust the folder it is started in. Not used where the entry is the project's alone: whether the
    user has approved that is part of the question."""
    trusting: Callable[[Drive], Drive] = lambda drive: drive
    """Makes the agent run unapproved hooks: for our own trials, never to judge somebody's installation."""
    tools: Mapping[str, tuple[str, ...]] = {}
    """Our tool → what the agent's requests call it, where that is not what its hooks are told."""
    helper: str = ""
    """The kind of sub-agent that its model asks for."""
    terminal: bool = False
    """Whether it runs in a terminal; then only the screen shows what it does."""
    scenarios: Mapping[str, Drive] = {}
    """How it is driven in other scenarios; a scenario that is not listed makes no difference."""
    cannot_show: Mapping[str, str] = {}
    """Event, or event and effect → why no run without a person can show it."""

    def in_scenario(self, scenario: str) -> Drive:
        return self.scenarios.get(scenario, self)

    def with_words(self, *words: str) -> Drive:
        return self.replace(words=(*self.words, *words))

    def without_words(self, *words: str) -> Drive:
        return self.replace(words=tuple(word for word in self.words if word not in words))

    def with_env(self, **env: str) -> Drive:
        return self.replace(env={**self.env, **env})

    def why_not_shown(self, event: str, effect: str) -> str:
        """Why it cannot be shown; "" if it can."""
        return self.cannot_show.get(event) or self.cannot_show.get(f"{event} {effect}", "")
