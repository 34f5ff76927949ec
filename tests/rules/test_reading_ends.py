"""Reading a call ends: it uses no more than so much CPU time, and what was not read is unknown."""

from __future__ import annotations

import signal
from itertools import count

import pytest

from anyhook.platform.launched import Started
from anyhook.rules import calls
from anyhook.rules.calls import facts_of


def for_ever(*_: object) -> None:
    for _number in count():
        try:
            sum(range(1000))
        except Exception:  # noqa: BLE001 (what ends the reading must not be taken for an ordinary failure)
            continue


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "READ_S", 0.05)
    monkeypatch.setattr(calls, "_look", for_ever)
    monkeypatch.setattr(Started, "is_command", True)


@pytest.mark.usefixtures("endless")
def test_what_takes_too_long_is_unknown() -> None:
    before = signal.getsignal(signal.SIGPROF)
    facts = facts_of("Bash", {"command": "ls"}, cwd="/w", home="/home/u", project="/w")
    assert [what for what in facts.unknown if "not read" in what]
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGPROF) is before


def test_a_host_keeps_its_signals(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    monkeypatch.setattr(calls, "_look", lambda *_: seen.append(signal.getsignal(signal.SIGPROF)))
    before = signal.getsignal(signal.SIGPROF)
    facts_of("Bash", {"command": "ls"}, cwd="/w", home="/home/u", project="/w")
    assert seen == [before]


@pytest.mark.parametrize("cwd", ["/", "//", "///a", "", "a", "a/b", "."])
@pytest.mark.parametrize(
    "line",
    ["cd {} && rm -rf $(git rev-parse --show-toplevel)", "make -C {} all", "cd {}; npm run x", "cd {}; just x"],
)
def test_folders_that_lead_nowhere_end(line: str, cwd: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder above `//` is `//`, and the one above no folder is none."""
    monkeypatch.setattr(Started, "is_command", True)
    for folder in (cwd, "/w"):
        facts = facts_of("Bash", {"command": line.format(cwd)}, cwd=folder, home="/home/u", project="/w")
        assert not [what for what in facts.unknown if "OutOfTime" in what]
