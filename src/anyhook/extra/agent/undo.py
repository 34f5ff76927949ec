"""Undo: restore the files that tools changed in the last turn. The project's files are saved in a separate git
repository outside the project. Files that a file tool writes to are also saved directly, whether git ignores them or
not. Files that were changed after the turn are left alone."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from anyhook.extra.agent.permission import needs
from anyhook.model.json_types import Json
from anyhook.platform.other_programs import ask

LIMIT_S = 20.0
"""A project that takes longer to scan gets no snapshots."""
SAFE = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.autocrlf=false",
        "-c", "core.safecrlf=false", "-c", "advice.addEmbeddedRepo=false", "-c", "gc.auto=0")  # fmt: skip
"""A snapshot runs none of the project's programs, and keeps every byte."""


AS_IS = "* -text -filter -ident -working-tree-encoding\n"
"""No file is converted, even if the project's attributes say so."""


LEFT_OVER_S = 7 * 86_400.0
"""A repository that was not used for so long belongs to no chat."""
WRITERS = ("write_file", "edit_file")
"""Tools that change the file that they name. It is saved first, even if git ignores it."""
MAX_BYTES = 20_000_000
"""The largest such file that is saved."""


class NoSnapshot(Exception):  # noqa: N818 (it says what is missing)
    """Why there is nothing to restore."""


@dataclass
class Undone:
    """What was restored, and what was not."""

    restored: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    """Not restored, because it was changed since."""
    failed: dict[str, str] = field(default_factory=dict)
    """Path → why it could not be restored."""
    unkept: str = ""
    """Why only files of the agent's own tools were saved; "" if the whole project was."""
    commands: bool = False
    """Whether other tools ran, which may have changed files that are not saved."""


@dataclass
class _File:
    """One file that a tool writes to."""

    before: bytes | None
    """None if there was no file."""
    mode: int
    after: bytes | None = None


class Snapshots:
    """The project's files before and after the last turn with a tool that can change files."""

    def __init__(self, project: str, folder: str, env: Mapping[str, str]) -> None:
        """`folder` is private, and created when it is needed."""
        self._project, self._folder = os.path.realpath(project), folder
        self._env = {key: value for key, value in env.items() if not key.startswith("GIT_")}
        self._before = self._after = ""
        self._why = "no tool has changed a file in this session"
        self._files: dict[str, _File] = {}
        """The files that tools write to in this turn, by their path in the project."""
        self._commands = False
        self._taken = False
        """Whether this turn has its first snapshot."""
        self._keeping = asyncio.Lock()

    def turn_begins(self) -> None:
        self._taken = False

    async def before_tool(self, tool: str, given: Mapping[str, Json]) -> None:
        """Save the project's files once per turn, before the first tool that could change some, and the file that this
        tool writes to. Tools of one step run in parallel, but none before the files are saved."""
        if not needs(tool):
            return
        async with self._keeping:
            if not self._taken:
                await asyncio.to_thread(self._keep)
            path = given.get("path")
            if tool not in WRITERS or not isinstance(path, str):
                self._commands = True
            else:
                await asyncio.to_thread(self._keep_file, path)

    def _keep(self) -> None:
        self._taken, self._after, self._commands = True, "", False
        self._files.clear()
        try:
            self._before = self._tree()
        except NoSnapshot as error:
            self._before, self._why = "", str(error)

    def _keep_file(self, path: str) -> None:
        whole = os.path.realpath(os.path.join(self._project, path))
        name = os.path.relpath(whole, self._project)
        if name in self._files:
            return
        try:
            if os.path.exists(whole) and os.path.getsize(whole) <= MAX_BYTES:
                self._files[name] = _File(_content(whole), os.stat(whole).st_mode & 0o7777)
            elif not os.path.exists(whole):
                self._files[name] = _File(None, 0)
        except (OSError, ValueError):  # the tool will report what is wrong with it
            pass

    async def turn_ends(self) -> None:
        if not self._taken:
            return
        for name, kept in self._files.items():
            kept.after = _content(os.path.join(self._project, name))
        if self._before:
            try:
                self._after = await asyncio.to_thread(self._tree)
            except NoSnapshot as error:
                self._before, self._why = "", str(error)

    def close(self) -> None:
        """The session is over, and nothing can be undone any more."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def undo(self) -> Undone:
        """Restore the files that the last such turn changed, once."""
        whole = bool(self._before and self._after)
        if not whole and not self._files:
            raise NoSnapshot(self._why)
        undone = Undone(unkept="" if whole else self._why, commands=self._commands)
        seen = self._undo_tree(undone) if whole else set()
        for name, kept in self._files.items():
            if name not in seen and kept.before != kept.after:
                self._undo_file(name, kept, undone)
        self._before, self._why = "", "the last turn was undone already"
        self._files.clear()
        return undone

    def _undo_tree(self, undone: Undone) -> set[str]:
        """Restore everything that git saved; returns the changed paths."""
        changed, since = self._changed(self._before, self._after), self._changed(self._after, self._tree())
        for path, was_there in changed.items():
            if path in since:
                undone.left.append(path)
                continue
            if was_there:
                self._git("checkout", self._before, "--", f":(literal,top){path}")
            else:
                os.unlink(os.path.join(self._project, path))
            undone.restored.append(path)
        return set(changed)

    def _undo_file(self, name: str, kept: _File, undone: Undone) -> None:
        path = os.path.join(self._project, name)
        if _content(path) != kept.after:
            undone.left.append(name)
            return
        try:
            if kept.before is None:
                os.unlink(path)
            else:
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as file:
                    file.write(kept.before)
                os.chmod(path, kept.mode)
        except OSError as error:
            undone.failed[name] = error.strerror or str(error)
        else:
            undone.restored.append(name)

    def _tree(self) -> str:
        """The current files, without ignored ones."""
        if not os.path.isdir(f"{self._folder}/objects"):
            _delete_left_over(os.path.dirname(self._folder))
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            self._git("init", "--quiet")
            with open(f"{self._folder}/info/attributes", "w", encoding="utf-8") as file:
                file.write(AS_IS)
        self._git("add", "--all", "--ignore-errors", ".")
        return self._git("write-tree").strip()

    def _changed(self, old: str, new: str) -> dict[str, bool]:
        """Path → whether it existed before."""
        words = self._git("diff-tree", "-r", "-z", "--no-renames", "--name-status", old, new).split("\0")
        return {path: kind != "A" for kind, path in zip(words[::2], words[1::2], strict=False)}

    def _git(self, *words: str) -> str:
        env = {**self._env, "GIT_DIR": self._folder, "GIT_WORK_TREE": self._project, "GIT_CONFIG_NOSYSTEM": "1",
               "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0"}  # fmt: skip
        try:
            done = ask(("git", *SAFE, *words), LIMIT_S, cwd=self._project, env=env, keeps_terminal=True)
        except FileNotFoundError:
            raise NoSnapshot("git is not installed, which keeps the files for /undo") from None
        except OSError:
            raise NoSnapshot("the project is too large to be kept for /undo") from None
        if done.status:
            raise NoSnapshot(f"git could not keep the files: {done.complaint()}")
        return done.out.decode("utf-8", "surrogateescape")


def _delete_left_over(folder: str) -> None:
    """Delete the repositories of chats that were killed, and of the version before, which kept one for each project."""
    with suppress(OSError):
        for entry in os.scandir(folder):
            # Every snapshot writes the index, so the repository of a chat that is used is young.
            if time.time() - entry.stat(follow_symlinks=False).st_mtime > LEFT_OVER_S:
                shutil.rmtree(entry.path, ignore_errors=True)


def _content(path: str) -> bytes | None:
    """The contents of a file; None if it is missing or cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None
