"""An agent may run its hooks with no variable set at all: our entry answers as with the user's own."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from anyhook.tables.registry import INSTALLABLE, host, sample
from anyhook.tables.sample_rows import COMMAND

if TYPE_CHECKING:
    from conftest import World

FORCED = "git push --force"


def entry_command(world: World, agent: str, native: str) -> str:
    """The command of the entry that was written, from our program's path on."""
    known = json.loads((world.state / "installs/index.json").read_text())
    with_ours = [path for path, row in known.items() if row["agent"] == agent]
    text = "\n".join(Path(path).read_text() for path in with_ours)
    if (table := host(agent)).entry is not None and table.entry.style == "module":
        lists = (json.loads(found[1]) for found in re.finditer(r"(?m)^const (?:LAUNCHER|PLACES) = (\[.*\])$", text))
        program, places = lists
        return shlex.join([*program, "bridge", agent, native, *places])
    found = re.search(rf"(/[^\s\"'=]+(?: -I -m anyhook)? bridge {agent} {re.escape(native)}[^\"'\n\\]*)", text)
    assert found is not None, text
    return found[1]


@pytest.mark.parametrize("agent", INSTALLABLE)
def test_the_answer_is_the_same_without_any_variable(agent: str, world: World) -> None:
    for words in (("add", "guard", "--yes"), ("install", agent)):
        assert world.command(*words).returncode == 0
    one = sample(agent)
    payload = json.dumps(one.payload).replace(COMMAND, FORCED)
    line = entry_command(world, agent, one.calls)
    own = shlex.split(line)
    usual = world.command(*own[own.index("bridge") :], stdin=payload)
    bare = subprocess.run(
        ["/bin/sh", "-c", line], input=payload, env={}, cwd=world.project, capture_output=True, text=True, check=False
    )
    assert (bare.returncode, bare.stdout, bare.stderr) == (usual.returncode, usual.stdout, usual.stderr)
    assert "forced push" in bare.stdout + bare.stderr
