"""Our own small files: several processes change them, and none loses another's changes."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from anyhook.model.lean_json import short_digest
from anyhook.platform.locks import locked
from anyhook.platform.places import read_object
from anyhook.state.hook_types import HookTypes
from anyhook.state.switches import Switches

if TYPE_CHECKING:
    from pathlib import Path


def test_a_lock_that_nobody_waits_for(tmp_path: Path) -> None:
    for file in ("", "a.lock"):
        with locked(str(tmp_path), file) as first, locked(str(tmp_path), file, wait_s=0) as second:
            assert (first, second) == (True, False)
        with locked(str(tmp_path), file, wait_s=0) as again:
            assert again


def test_locks_of_a_folder_and_of_files_in_it_are_apart(tmp_path: Path) -> None:
    folder = str(tmp_path)
    with locked(folder), locked(folder, "a", wait_s=0) as one, locked(folder, "b", wait_s=0) as other:
        assert (one, other) == (True, True)


def test_answers_of_two_at_once_are_all_kept(tmp_path: Path) -> None:
    one, other = HookTypes(str(tmp_path)), HookTypes(str(tmp_path))
    one.keep({"a": "1"})
    other.keep({"b": "2"})
    found = HookTypes(str(tmp_path))
    assert (found.get("a"), found.get("b")) == ("1", "2")
    assert (other.get("a"), other.get("b")) == ("1", "2")


def test_a_lock_file_that_was_deleted_meanwhile_is_no_lock(tmp_path: Path) -> None:
    with locked(str(tmp_path), "a"):
        waiting = locked(str(tmp_path), "a")
        entered = threading.Event()

        def wait() -> None:
            waiting.__enter__()
            entered.set()

        threading.Thread(target=wait, daemon=True).start()
        time.sleep(0.2)
        (tmp_path / "a").unlink()
    assert entered.wait(30)
    with locked(str(tmp_path), "a", wait_s=0) as second:
        assert not second
    waiting.__exit__()


def test_answers_are_known_though_they_cannot_be_kept() -> None:
    types = HookTypes("/dev/null/nowhere")
    types.keep({"a": "1"})
    assert types.get("a") == "1"


def test_switches_do_not_wait_for_whoever_indexes_the_journal(tmp_path: Path) -> None:
    """The indexer locks the whole folder, for minutes if the journal is large."""
    with locked(str(tmp_path)):
        turned = threading.Thread(
            target=Switches(str(tmp_path)).turn, args=("", "hook"), kwargs={"on": False}, daemon=True
        )
        turned.start()
        turned.join(30)
        assert not turned.is_alive()
    assert Switches(str(tmp_path)).off("") == {"hook"}


def test_file_names_differ_and_last() -> None:
    assert short_digest("ab") == "f65a5e77ff5e2690ad316b7b9fc28dd9"
    assert len({short_digest(text) for text in ("", "a", "b", "ab", "ba", "\ud800")}) == 6


def test_what_is_no_object_is_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x"
    assert read_object(str(path)) is None
    for text, found in (("[]", None), ("{", None), ('{"a": 1}', {"a": 1})):
        path.write_text(text)
        assert read_object(str(path)) == found
