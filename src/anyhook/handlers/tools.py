"""The tools of an agent handler: read, list, search and run commands in the project. Everything it starts is killed
with the handler, and its calls fire no events."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping
from time import monotonic

import regex

from anyhook.model.call import Call, Run
from anyhook.model.words import RUN_VARIABLE
from anyhook.platform.async_wait import wait_in_thread
from anyhook.platform.run import start

Tool = Callable[..., Awaitable[str]]

MAX_TEXT = 30_000
MAX_FOUND_FILES = 1_000
MAX_MATCHES = 200
MAX_SEARCHED = 1_000_000
PATTERN_S = 0.5
"""Per line: the pattern comes from the model and may be very slow."""
SKIPPED = frozenset({".git", "node_modules", ".venv", "__pycache__"})


class Workplace:
    """The project's directory, for as long as one handler works."""

    def __init__(self, project: str, env: Mapping[str, str], nonce: str, until_s: float) -> None:
        """`until_s` is when the handler's time is up, on the monotonic clock."""
        self._project, self._until = project, until_s
        # Every command inherits the mark: it is found and killed even if it left its group, and an agent or an anyhook
        # that it starts knows that it runs inside a hook, and fires none.
        self._env = {**env, RUN_VARIABLE: nonce}
        self._mark = f"{RUN_VARIABLE}={nonce}"
        self._notes: list[str] = []

    def tools(self) -> tuple[Tool, ...]:
        return (self.read_file, self.list_files, self.grep, self.shell)

    def notes(self) -> str:
        """One line for each call so far."""
        return "".join(f"{line}\n" for line in self._notes)

    async def read_file(self, path: str, first_line: int = 1, lines: int = 500) -> str:
        """Read part of a text file.

        Args:
            path: The file, relative to the project's directory.
            first_line: The number of the first line wanted, from 1.
            lines: How many lines are wanted.
        """
        self._notes.append(f"read_file {path}")
        try:
            place = self._place(path)
            if os.path.exists(place) and not os.path.isfile(place):  # a pipe would block the whole loop
                return f"error: {path} is not a regular file"
            with open(place, encoding="utf-8", errors="replace") as file:
                text = [line for number, line in enumerate(file, 1) if first_line <= number < first_line + lines]
        except (OSError, ValueError) as error:
            return f"error: {error}"
        return clipped("".join(text)) or "(nothing there)"

    async def list_files(self, path: str = ".") -> str:
        """List the files under a directory, with their paths relative to the project's directory.

        Args:
            path: The directory, relative to the project's directory.
        """
        self._notes.append(f"list_files {path}")
        return await asyncio.to_thread(self._list, path)

    def _list(self, path: str) -> str:
        found: list[str] = []
        for file in self._files(path):
            if len(found) == MAX_FOUND_FILES:
                found.append("(and more)")
                break
            found.append(os.path.relpath(file, self._project))
        return "\n".join(found) or "(no files)"

    async def grep(self, pattern: str, path: str = ".") -> str:
        """Search text files for a regular expression; each match is one line: file, line number, text.

        Args:
            pattern: The regular expression.
            path: The file or directory to search, relative to the project's directory.
        """
        self._notes.append(f"grep {pattern} {path}")
        return await asyncio.to_thread(self._search, pattern, path)

    def _search(self, pattern: str, path: str) -> str:
        try:
            wanted = regex.compile(pattern)
            found: list[str] = []
            for file in self._files(path):
                for number, line in _lines(file):
                    if wanted.search(line, timeout=PATTERN_S):
                        found.append(f"{os.path.relpath(file, self._project)}:{number}: {line[:300]}")
                        if len(found) == MAX_MATCHES:
                            return clipped("\n".join([*found, "(and more)"]))
        except (regex.error, TimeoutError) as error:
            return f"error: {error}"
        return clipped("\n".join(found)) or "(no match)"

    async def shell(self, command: str, limit_s: float = 120.0) -> str:
        """Run a command in the project's directory with /bin/sh; the result is its exit status and its output.

        Args:
            command: The command.
            limit_s: After how many seconds it is ended.
        """
        self._notes.append(f"shell {command}")
        limit_s = max(0.0, min(limit_s, self._until - monotonic()))
        started = start(Call(("/bin/sh", "-c", command), b"", self._env, self._project, limit_s, self._mark))
        run = started if isinstance(started, Run) else await wait_in_thread(started)
        if run.ending == "not_started":
            return f"error: {run.error}"
        how = f"exit status {run.exit_code}" if run.ending == "exited" else f"it was ended: {run.ending}"
        out, err = (clipped(stream.decode("utf-8", "replace")) for stream in (run.stdout, run.stderr))
        return f"{how}\nstdout:\n{out}\nstderr:\n{err}"

    def _place(self, path: str) -> str:
        return os.path.join(self._project, os.path.expanduser(path))

    def _files(self, path: str) -> Iterator[str]:
        """Regular files, in order, until the handler's time is up: the searching thread cannot be killed."""
        place = self._place(path)
        if os.path.isfile(place):
            yield place
        for folder, folders, names in os.walk(place):
            folders[:] = sorted(name for name in folders if name not in SKIPPED)
            for name in sorted(names):
                if monotonic() > self._until:
                    return
                file = os.path.join(folder, name)
                if os.path.isfile(file):
                    yield file


def _lines(file: str) -> Iterator[tuple[int, str]]:
    """The lines of a text file; none of a large one, of one with zero bytes, or of one that cannot be read."""
    try:
        if os.path.getsize(file) > MAX_SEARCHED:
            return
        with open(file, "rb") as opened:
            data = opened.read()
    except OSError:
        return
    if b"\0" not in data:
        yield from enumerate(data.decode("utf-8", "replace").splitlines(), 1)


def clipped(text: str) -> str:
    """A long text without its middle: the start and the end of an output matter most."""
    if len(text) <= MAX_TEXT:
        return text
    half = MAX_TEXT // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"
