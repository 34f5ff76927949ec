"""Law: no bytes in a project's hook files change what a user's hook answers."""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyhook import Event
from anyhook.tables.registry import DIALECTS
from conftest import World
from examples import examples
from layer_files import CASES, IDS, filled

if TYPE_CHECKING:
    from collections.abc import Iterator

NUMBERS = st.sampled_from(
    (
        "1", "-1", "0", "1e308", "1e999", "-1e999", "NaN", "Infinity", ".nan", ".inf", "inf", "0x" + "f" * 4299,
        "9" * 309, "9" * 4300, "9" * 4301, "0.1", "null", "true", '"9"', "[]", "{}", "[[1]]", '"\\ud800"', "'''",
        "2026-11-16", "1_0",
    )
)  # fmt: skip
SCRAPS = st.sampled_from(
    (
        b"\0", b"\xff", b"\xef\xbb\xbf", b"{", b"[" * 2_000, b'{"a":' * 2_000, b"9" * 309, b"9" * 5_000, b"1e999",
        b"NaN", b"---\n", b"&a [*a]", b"<<: *a\n", b"? [1]\n: 2\n", b"1: 2\n", b"!!python/object:os.system x",
        b"\\u0000", b"\n", b'"hooks"', b"hooks:", b"disableAllHooks", b"true", b"null", b"-" * 70_000, b"a." * 40,
        b"\xed\xa0\x80",
    )
)  # fmt: skip


@st.composite
def documents(draw: st.DrawFn, text: str) -> bytes:
    """A valid file with odd numbers, a file with scraps mixed in, or random bytes."""
    kind = draw(st.sampled_from(["numbers", "mixed", "anything"]))
    if kind == "anything":
        return draw(st.binary(max_size=400))
    data = filled(text, draw(NUMBERS)).encode()
    for _ in range(draw(st.integers(1, 5)) if kind == "mixed" else 0):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 20)))
        data = data[:start] + draw(SCRAPS) + data[end:]
    return data


@pytest.fixture(scope="module")
def guarded() -> Iterator[World]:
    """A world with a user's hook that blocks."""
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        world.hook("kodik", "PreToolUse", "exit 2")
        yield world


@pytest.mark.parametrize(("name", "path", "text"), CASES, ids=IDS)
def test_no_bytes_of_a_project_change_a_users_answer(guarded: World, name: str, path: str, text: str) -> None:
    target = guarded.project / path

    @examples(25)
    @given(data=documents(text))
    def law(data: bytes) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        target.chmod(0o755)
        decision = guarded.engine(session="s").fire_sync(Event.pre_tool("Bash", {"command": "ls"}))
        assert decision.verdict == "block"
        assert (decision.hook or "").startswith("kodik:user:")
        assert "layer-failed" not in [problem.code for problem in decision.problems], "the net is for what nobody knows"

    try:
        law()
    finally:
        target.unlink(missing_ok=True)


@examples(30)
@given(seed=st.integers(0, 2**32), number=NUMBERS)
def test_all_files_at_once(seed: int, number: str) -> None:
    """All dialects together, each file with some bytes changed. The result can still be written as JSON."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        world.hook("kolega", "PreToolUse", "exit 2")
        for _, path, text in CASES:
            data = bytearray(filled(text, number).encode())
            for _ in range(chance.randrange(3)):
                data[chance.randrange(len(data))] = chance.randrange(256)
            (world.project / path).parent.mkdir(parents=True, exist_ok=True)
            (world.project / path).write_bytes(data)
        decision = world.engine(dialects=DIALECTS).fire_sync(Event.pre_tool("Bash", {"command": "ls"}))
        assert (decision.verdict, (decision.hook or "").split(":")[:2]) == ("block", ["kolega", "user"])
        json.dumps(decision.as_dict())
