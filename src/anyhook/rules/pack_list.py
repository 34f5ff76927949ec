"""The packs that come with anyhook: guards, and hooks that people write again and again. Each is one readable file of
rules in `packs/`."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from typing import Any

from anyhook.model.record import Record

FOLDER = os.path.join(os.path.dirname(__file__), "packs")
EXAMPLES = os.path.join(os.path.dirname(__file__), "examples")
GUARD = "guard"
"""The name that means all guards."""
GUARDS = ("files", "git", "code", "secrets", "data", "infrastructure", "system", "outside", "rules")
MEMORIES = ("flow", "loops", "budget", "redact")
"""Guards that remember the session or keep secrets from the model; each is turned on by its own name."""
HELPERS = ("format", "notify", "test-after-edit", "context")
"""Packs that refuse nothing; each is turned on by its own name."""
NAMES = (*GUARDS, *MEMORIES, *HELPERS)


class Pack(Record):
    """One pack, as its file describes it."""

    name: str
    title: str
    description: str
    rules: tuple[Mapping[str, Any], ...]
    trial: str
    """The arguments of `anyhook` that show what it does."""

    @property
    def guards(self) -> bool:
        return self.name in GUARDS

    @property
    def size(self) -> str:
        """How many rules it has, for a column."""
        return f"{len(self.rules):>3} {'rule' if len(self.rules) == 1 else 'rules'}"


def read_pack(name: str) -> Pack:
    """A pack by its name."""
    with open(path_of(name), "rb") as file:
        document = tomllib.load(file)
    about = document["pack"]
    return Pack(name, about["title"], about["description"], tuple(document["rule"]), about["try"])


def examples_of(name: str) -> tuple[dict[str, list[str]], list[str]]:
    """Lines that each rule of a guard refuses, by its name, and lines that the pack lets pass."""
    path = os.path.join(EXAMPLES, f"{name}.toml")
    if not os.path.exists(path):
        return {}, []
    with open(path, "rb") as file:
        document = tomllib.load(file)
    return document["refuses"], document["passes"]


def path_of(name: str) -> str:
    return os.path.join(FOLDER, f"{name}.toml")


def members(name: str) -> tuple[str, ...]:
    """The packs that a word on the command line means; empty if it means something else."""
    return GUARDS if name == GUARD else (name,) if name in NAMES else ()
