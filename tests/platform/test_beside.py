"""Processes that run in parallel, while one thread waits for them one after the other."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from anyhook.model.call import Call, Run
from anyhook.platform.beside import watched
from anyhook.platform.child import Child
from anyhook.platform.run import start

if TYPE_CHECKING:
    from pathlib import Path

    from anyhook.handlers import Waitable

BOUND_S = 60.0
"""A limit that no test should reach."""
LARGE = 1_000_000
"""More bytes than a pipe holds."""


def shell(line: str, stdin: bytes = b"", limit_s: float = BOUND_S) -> Call:
    return Call(("/bin/sh", "-c", line), stdin, {"PATH": "/usr/bin:/bin"}, "/", limit_s, "")


def runs_of(*calls: Call) -> list[Run]:
    """Start all of them, then wait for each in turn."""
    return [each if isinstance(each, Run) else waited(each) for each in watched([start(call) for call in calls])]


def waited(started: Waitable) -> Run:
    run = started.wait()
    assert run is not None
    return run


def test_a_process_goes_on_while_another_is_waited_for(tmp_path: Path) -> None:
    """The first ends only after the second has written more than a pipe holds and the third has read as much."""
    done = tmp_path / "done"
    first = shell(f"until [ -e {done}2 ] && [ -e {done}3 ]; do sleep 0.01; done; echo first")
    second = shell(f"head -c {LARGE} /dev/zero; : > {done}2; exit 2")
    third = shell(f"wc -c; : > {done}3", b"x" * LARGE)
    runs = runs_of(first, second, third)
    assert [(run.ending, run.exit_code) for run in runs] == [("exited", 0), ("exited", 2), ("exited", 0)]
    assert [len(runs[0].stdout), len(runs[1].stdout), int(runs[2].stdout)] == [len("first\n"), LARGE, LARGE]


def test_each_has_its_own_limit(tmp_path: Path) -> None:
    """Processes whose time is up are killed even while we wait for another one: the first waits until they are gone."""
    alive = tmp_path / "alive"
    both = f"until [ -e {alive}2 ] && [ -e {alive}3 ]; do sleep 0.01; done"
    first = shell(f"{both}; while kill -0 $(cat {alive}2) || kill -0 $(cat {alive}3); do sleep 0.01; done; echo over")
    runs = runs_of(first, *(shell(f"echo $$ > {alive}{number}; sleep 60", limit_s=1.0) for number in (2, 3)))
    assert [run.ending for run in runs] == ["exited", "timed_out", "timed_out"]
    assert runs[0].stdout == b"over\n"


def test_one_that_prints_too_much_is_ended_and_the_others_are_not() -> None:
    runs = runs_of(shell("sleep 0.1; echo a"), shell("exec cat /dev/zero"), shell("echo c"))
    assert [run.ending for run in runs] == ["exited", "overflowed", "exited"]
    assert [runs[0].stdout, runs[2].stdout] == [b"a\n", b"c\n"]


def test_one_that_was_not_started_has_its_place() -> None:
    runs = runs_of(shell("echo a"), Call(("/no/such/program",), b"", {}, "/", BOUND_S, ""), shell("echo c"))
    assert [run.ending for run in runs] == ["exited", "not_started", "exited"]


def test_one_can_be_ended_while_the_others_go_on() -> None:
    started = watched([start(shell("sleep 60")), start(shell("echo b"))])
    assert all(isinstance(each, Child) for each in started)
    first, second = (each for each in started if isinstance(each, Child))
    assert waited(second).stdout == b"b\n"
    first.end("cancelled")
    assert waited(first).ending == "cancelled"


def test_no_descriptor_is_left_over() -> None:
    before = sorted(os.listdir("/dev/fd"))
    runs_of(*(shell(f"echo {number}") for number in range(8)))
    assert sorted(os.listdir("/dev/fd")) == before
