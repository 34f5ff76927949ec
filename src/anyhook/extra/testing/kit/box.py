"""Where cases and vectors run: a temporary folder for each, what is laid out in it, calls of real processes there, and
what is there in the end. No part of the engine is loaded here."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self, TypeVar

from anyhook.documents.read import Unreadable, read_bytes
from anyhook.extra.testing.conformance.matching import may_be_missing, mismatches, parse_json, show
from anyhook.extra.testing.kit.form import FileEntry
from anyhook.model.json_types import Json
from anyhook.model.record import Record
from anyhook.platform.leftovers import end_all_in
from anyhook.platform.other_programs import run_to_end
from anyhook.platform.tree import process_ids

Item = TypeVar("Item")
Made = TypeVar("Made")

LIMIT_S = 60.0
"""How long a call may take, unless a case says something else."""
LATE_EVERY_S = 0.05
"""How often what may come late is looked at: a background hook may still be at work."""
TAIL_LINES = 12
MAX_READ = 64_000_000
"""Bytes of a file that is compared."""

# -P: the process starts in a project, whose files must not be importable by accident.
COMMAND = (sys.executable, "-P", "-m", "anyhook")


class Ended(Record):
    """How one process ended; `exit_code` is None if it had to be killed at the limit."""

    exit_code: int | None
    stdout: str
    stderr: str

    @property
    def tail(self) -> list[str]:
        """The last lines that it said about itself."""
        return self.stderr.strip().splitlines()[-TAIL_LINES:]


def call(argv: Sequence[str], stdin: str | None, env: Mapping[str, str], cwd: Path, limit_s: float) -> Ended:
    data = None if stdin is None else stdin.encode("utf-8", "surrogatepass")
    try:
        ended = run_to_end([*argv], limit_s, stdin=data, env=dict(env), cwd=str(cwd))
    except OSError as error:
        return Ended(exit_code=127, stdout="", stderr=f"could not be started: {error}")
    out, err = ended.out.decode("utf-8", "replace"), ended.err.decode("utf-8", "replace")
    return Ended(exit_code=None if ended.timed_out else ended.status, stdout=out, stderr=err)


class Box:
    """A temporary folder; what runs in it is killed when it is closed, and everything is deleted."""

    in_use: ClassVar[set[Box]] = set()

    def __init__(self) -> None:
        self._before = frozenset(process_ids())
        self.root = os.path.realpath(tempfile.mkdtemp(prefix="anyhook-test-"))
        self.in_use.add(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def end(self) -> None:
        """Kills what still runs here."""
        end_all_in(self.root, self._before)

    def close(self) -> None:
        """Kills what still runs here, and deletes everything, including folders that were made unreadable."""
        try:
            self.end()
            os.chmod(self.root, 0o700)
            for folder, names, _ in os.walk(self.root):
                for path in (os.path.join(folder, name) for name in names):
                    if not os.path.islink(path):
                        with contextlib.suppress(OSError):
                            os.chmod(path, 0o700)
            shutil.rmtree(self.root, ignore_errors=True)
        finally:
            self.in_use.discard(self)


def in_parallel(run: Callable[[Item], Made], items: Sequence[Item], jobs: int) -> Iterator[Made]:
    """The results in the order of the items, each as soon as it and those before it are done. An interruption kills
    what runs in every box."""
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        try:
            yield from pool.map(run, items)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            while Box.in_use:  # again, because one may have been about to start something
                for box in list(Box.in_use):
                    box.end()
                time.sleep(0.05)
            raise


def unlike_json(expected: Json, text: str, name: str, path: str = "$") -> list[str]:
    """What differs in a text that has to be one JSON value."""
    try:
        return mismatches(expected, parse_json(text), path)
    except ValueError as error:
        return [f"{name} is not one JSON value ({error}): {show(text)}"]


def unlike_file(
    expected: Json, path: str, name: str, unlike: Callable[[Json, Json, str], list[str]] = mismatches
) -> list[str]:
    """What differs in a file: null if it must not be there."""
    if not os.path.lexists(path):
        gone = expected is None or may_be_missing(expected)
        return [] if gone else [f"{name}: expected {show(expected)}, got no such file"]
    if expected is None:
        return [f"{name}: should not be there"]
    try:
        return unlike(expected, read_bytes(path, MAX_READ).decode("utf-8", "replace"), name)
    except (Unreadable, OSError) as error:
        return [f"{name}: cannot be read: {getattr(error, 'what', None) or getattr(error, 'strerror', error)}"]


# -- what is laid out before a run. Nothing is ever written outside the folder: a link that leads out is refused as a
# folder, and replaced as a file, never followed


def lay_out(base: str, entries: Mapping[str, FileEntry]) -> None:
    """Writes the entries; raises OSError for one that would be outside the folder."""
    root = os.path.realpath(base)
    modes: list[tuple[str, int]] = []
    for name, entry in entries.items():
        above, last = os.path.split(os.path.normpath(os.path.join(root, name)))
        folder = os.path.realpath(above)
        if not f"{folder}/".startswith(f"{root}/") or last in ("", ".", ".."):
            raise PermissionError(1, f"a link leads out of the folder, to {folder}; nothing is written there", name)
        path = f"{folder}/{last}"
        os.makedirs(folder, exist_ok=True)
        if entry.link is None and entry.text is None:
            if os.path.islink(path):
                raise FileExistsError(17, "something else than a folder is there", name)
            os.makedirs(path, exist_ok=True)
            modes += [(path, entry.mode)] if entry.mode is not None else []
        else:
            _place(path, entry)
    # Last and deepest first: a directory may be about to become unreadable.
    for path, mode in sorted(modes, key=lambda item: item[0].count("/"), reverse=True):
        os.chmod(path, mode)


def _place(path: str, entry: FileEntry) -> None:
    """Replace what is there with a new file, so that nothing is written through a link or a hard link."""
    mode = entry.mode
    if os.path.lexists(path):
        seen = os.lstat(path)
        mode = stat.S_IMODE(seen.st_mode) & 0o777 if mode is None and stat.S_ISREG(seen.st_mode) else mode
        os.unlink(path)
    if entry.link is not None:
        os.symlink(entry.link, path)
        return
    with open(path, "xb") as file:
        file.write((entry.text or "").encode("utf-8", "surrogatepass"))
        if mode is not None:
            os.fchmod(file.fileno(), mode)
