"""Law: whatever bytes an agent sends with a call that a guard blocks, it never gets the answer for a call without
hooks."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyhook.engine.express import completed
from anyhook.model.firing import NO_OPINION
from anyhook.model.outcome import Outcome
from anyhook.tables.registry import HOSTS, host
from conftest import World
from examples import examples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anyhook import Event

DATA = Path(__file__).parents[1] / "data" / "payloads"
SCRAPS = st.sampled_from(
    (
        b"", b"\0", b"\xff", b"\xef\xbb\xbf", b"{", b"}", b"[" * 2_000, b'{"a":' * 2_000, b"9" * 309, b"9" * 5_000,
        b"1e999", b"NaN", b"\\ud800", b'"', b"null", b"[]", b"{}", b'""', b"\n", b"-0", b"\xed\xa0\x80", b"true",
    )
)  # fmt: skip
GATES = [
    (name, row.native, path)
    for name in HOSTS
    for row in host(name).events
    if row.canonical[:1] == ("pre_tool",) and "block" in row.says and row.when is None
    for path in sorted((DATA / name).glob(f"{row.native}*.json"))[:2]
]


@pytest.fixture(scope="module")
def somebody() -> Iterator[World]:
    with tempfile.TemporaryDirectory() as folder:
        yield World(Path(folder))


def refuse(_event: Event) -> Outcome:
    return Outcome(verdict="block", reason="not here")


def test_many_agents_are_here() -> None:
    assert len({name for name, _, _ in GATES}) >= 15


@pytest.mark.parametrize(("name", "native", "path"), GATES, ids=lambda part: getattr(part, "stem", part))
def test_no_bytes_of_a_call_are_passed_over(somebody: World, name: str, native: str, path: Path) -> None:
    engine = somebody.engine()
    engine.on("pre_tool", refuse, name="refuse")
    sent, row = path.read_bytes(), host(name).row(native)
    assert row is not None
    silent = NO_OPINION if row.silence is None else completed(NO_OPINION, row.silence)
    assert engine.bridge(name, native, sent) != silent

    @examples(50)
    @given(data=st.data())
    def law(data: st.DataObject) -> None:
        changed = sent
        for _ in range(data.draw(st.integers(1, 4))):
            start = data.draw(st.integers(0, len(changed)))
            end = data.draw(st.integers(start, min(len(changed), start + 20)))
            changed = changed[:start] + data.draw(SCRAPS | st.binary(max_size=4)) + changed[end:]
        assert engine.bridge(name, native, changed) != silent

    law()
