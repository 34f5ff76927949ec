"""Undo: the files that tools changed in the last turn, as they were before it. The files are kept in a git repository
of our own, outside the project, which is separate from the project's own repository. What somebody changed after the
turn is left alone."""

from __future__ import annotations

import asyncio
import os
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

LIMIT_S = 20.0
"""A project that takes longer to look at has no snapshots."""
SAFE = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.autocrlf=false",
        "-c", "core.safecrlf=false", "-c", "advice.addEmbeddedRepo=false", "-c", "gc.auto=0")  # fmt: skip
"""A snapshot runs no program of the project, and every byte is kept."""


AS_IS = "* -text -filter -ident -working-tree-encoding\n"
"""Whatever the project says about its files, none is converted."""


class NoSnapshot(Exception):  # noqa: N818 (it says what is missing)
    """Why there is nothing to go back to, in one sentence."""


@dataclass
class Undone:
    """What was taken back, and what was not because it has changed since."""

    restored: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


class Snapshots:
    """The project's files before and after the last turn that used a tool that can change some."""

    def __init__(self, project: str, folder: str, env: Mapping[str, str]) -> None:
        """`folder` is private, and made when it is needed."""
        self._project, self._folder = project, folder
        self._env = {key: value for key, value in env.items() if not key.startswith("GIT_")}
        self._before = self._after = ""
        self._why = "no tool has changed a file in this session"
        self._taken = False
        """Whether this turn has its first snapshot."""
        self._keeping = asyncio.Lock()

    def turn_begins(self) -> None:
        self._taken = False

    async def before_change(self) -> None:
        """Keep the files, once a turn, before the first tool that could change some. Tools of one step run at once, and
        none before the files are kept."""
        async with self._keeping:
            if not self._taken:
                await asyncio.to_thread(self._keep)

    def _keep(self) -> None:
        self._taken, self._after = True, ""
        try:
            self._before = self._tree()
        except NoSnapshot as error:
            self._before, self._why = "", str(error)

    async def turn_ends(self) -> None:
        if self._taken and self._before:
            try:
                self._after = await asyncio.to_thread(self._tree)
            except NoSnapshot as error:
                self._before, self._why = "", str(error)

    def undo(self) -> Undone:
        """Put the files back that the last such turn changed; once."""
        if not self._before or not self._after:
            raise NoSnapshot(self._why)
        changed, since = self._changed(self._before, self._after), self._changed(self._after, self._tree())
        undone = Undone()
        for path, was_there in changed.items():
            if path in since:
                undone.left.append(path)
                continue
            if was_there:
                self._git("checkout", self._before, "--", f":(literal,top){path}")
            else:
                os.unlink(os.path.join(self._project, path))
            undone.restored.append(path)
        self._before, self._why = "", "the last turn was undone already"
        return undone

    def _tree(self) -> str:
        """The files as they are now. Ignored ones are not looked at."""
        if not os.path.isdir(f"{self._folder}/objects"):
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            self._git("init", "--quiet")
            with open(f"{self._folder}/info/attributes", "w", encoding="utf-8") as file:
                file.write(AS_IS)
        self._git("add", "--all", "--ignore-errors", ".")
        return self._git("write-tree").strip()

    def _changed(self, old: str, new: str) -> dict[str, bool]:
        """Path → whether it was there before."""
        words = self._git("diff-tree", "-r", "-z", "--no-renames", "--name-status", old, new).split("\0")
        return {path: kind != "A" for kind, path in zip(words[::2], words[1::2], strict=False)}

    def _git(self, *words: str) -> str:
        env = {**self._env, "GIT_DIR": self._folder, "GIT_WORK_TREE": self._project, "GIT_CONFIG_NOSYSTEM": "1",
               "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0"}  # fmt: skip
        try:
            done = subprocess.run(
                ["git", *SAFE, *words], cwd=self._project, env=env, capture_output=True, check=False, timeout=LIMIT_S
            )
        except FileNotFoundError:
            raise NoSnapshot("git is not installed, which keeps the files for /undo") from None
        except (OSError, subprocess.TimeoutExpired):
            raise NoSnapshot("the project is too large to be kept for /undo") from None
        if done.returncode:
            raise NoSnapshot(f"git could not keep the files: {done.stderr.decode('utf-8', 'replace').strip()}")
        return done.stdout.decode("utf-8", "surrogateescape")
