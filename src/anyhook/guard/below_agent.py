"""Whether this process was started by an agent: one of the programs above it is an agent of our tables, or it or one of
them has a variable that agents set for what they start; or nothing shows who started it while an agent runs. Only verbs
that weaken protection ask, so it may take time."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import pairwise

from anyhook.model.words import RUN_VARIABLE
from anyhook.platform.above import above, adopted, beside, environment_of
from anyhook.platform.places import config_file, home_of, state_dir
from anyhook.programs.rows import UNKNOWN_ROW
from anyhook.programs.table import row_of
from anyhook.tables.registry import HOSTS, host, special

MARKS = ("AI_AGENT", RUN_VARIABLE)
"""The variable that agents of several makers share, and our own, which every hook has."""
ENDINGS = (".js", ".mjs", ".cjs")


def agent_above(env: Mapping[str, str]) -> str:
    """How it is known that an agent started this process, for a message; "" if nothing shows it."""
    marks = {mark: host(name).title for name in HOSTS for mark in host(name).marks}
    programs = {host(name).program: host(name).title for name in HOSTS if not special(name, "HAS_TERMINALS")}
    if found := _mark(env, marks):
        return f"{found} is set in its environment"
    for pid, words in above(os.getpid()):
        if title := _agent(words, programs):
            return f"{title} is above it (process {pid})"
        if found := _mark(environment_of(pid), marks):
            return f"{found} is set for a process above it ({pid})"
    return _beside(env, programs)


def _beside(env: Mapping[str, str], programs: Mapping[str, str]) -> str:
    """A process that nobody's terminal and no living parent vouches for, while an agent runs that is older and uses the
    same home, settings or state: the agent may have started it and let it go."""
    orphan = adopted(os.getpid())
    for pid, words in beside(orphan) if orphan is not None else ():
        if (title := _agent(words, programs)) and _places(env) & _places(environment_of(pid)):
            return f"what started it is gone, it has no terminal, and {title} is running (process {pid})"
    return ""


def _places(env: Mapping[str, str]) -> set[str]:
    return {os.path.realpath(path) for path in (home_of(env), state_dir(env), config_file(env))} if env else set()


def _mark(env: Mapping[str, str], marks: Mapping[str, str]) -> str:
    """The first of the agents' variables that is set."""
    return next((name for name in (*MARKS, *marks) if env.get(name)), "")


def _agent(words: Sequence[str], programs: Mapping[str, str]) -> str:
    """The title of the agent that a process is; "" if it is not an agent. The first word is its name, the others are
    its command line; an interpreter, or a program that starts another, is what it runs."""
    names = [os.path.basename(word) for word in words[:2]]
    row = row_of(names[1].lstrip("-")) if names[1:] else UNKNOWN_ROW
    if row.language or row.wraps is not None:
        names += [os.path.basename(word) for word in words[2:] if not word.startswith("-")][:1]
    for name in names:
        stem = next((name.removesuffix(end) for end in ENDINGS if name.endswith(end)), name)
        if stem in programs:
            return programs[stem]
    ours = row_of("anyhook").names.split()
    is_ours = any(os.path.basename(word) in ours and verb == "agent" for word, verb in pairwise(words))
    return "anyhook's own agent" if is_ours else ""
