"""Sandbox: a temporary copy of a project with its own home and state. It never writes to the project itself, and the
user's files are not visible in it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from anyhook.documents.files import Files
from anyhook.extra.testing.kit.box import COMMAND, Box, Ended, call, lay_out
from anyhook.extra.testing.kit.cases import Case
from anyhook.extra.testing.kit.form import FileEntry
from anyhook.model import lean_json
from anyhook.platform.places import state_dir
from anyhook.programs.named import within
from anyhook.tables.registry import DIALECTS, dialect
from anyhook.tables.rows import Roots

LEFT_OUT = frozenset(
    {".git", ".hg", ".svn", ".jj", "node_modules", ".venv", "venv", ".tox", "__pycache__", ".mypy_cache", ".ruff_cache",
     ".pytest_cache", ".hypothesis", "target", "dist", "build"}
)  # fmt: skip
"""Folders that are large, are rebuilt, or contain a history: not copied unless they are asked for."""
MAX_COPY = 500_000_000
"""The most bytes that are copied for one case; a larger project contains something that no hook needs."""
OWN = ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
"""Variables that say where settings, approvals and the journal are. A test never uses the user's."""
TASK_FIELDS = ("event", "given", "hosted", "dialects", "on_failure", "mode", "only")
"""What the engine gets of a case."""
KEPT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SYSTEMROOT")
"""Variables that a case inherits from the caller."""


class CannotRun(Exception):  # noqa: N818 (it says what is missing)
    """Why a case has no result."""


class Sandbox(Box):
    """A place for one case, or for any number of events of a test program."""

    def __init__(self, project: str, bring: Sequence[str] = ()) -> None:
        """Copies the project; raises CannotRun if that fails."""
        super().__init__()
        self.project, self.home = f"{self.root}/project", f"{self.root}/home"
        self.source = os.path.realpath(project)
        try:
            if not os.path.isdir(self.source):
                raise CannotRun(f"the project {self.source} is not there (any more).")
            for path in bring:
                if not os.path.isdir(os.path.join(self.source, path)):
                    raise CannotRun(f"`bring` {path}: there is no such folder in {self.source}.")
            os.mkdir(self.home, 0o700)
            _copy(self.source, self.project, frozenset(os.path.normpath(path) for path in bring), self.root)
        except OSError as error:
            self.close()
            raise CannotRun(f"the project cannot be copied: {error}") from None
        except BaseException:
            self.close()
            raise
        self.env = {name: os.environ[name] for name in KEPT if name in os.environ}
        self.env["PATH"] = self._path(self.env.get("PATH", os.defpath))
        self.env.update(
            HOME=self.home, XDG_CONFIG_HOME=f"{self.home}/.config", XDG_STATE_HOME=f"{self.home}/.local/state"
        )
        self.env.setdefault("LANG", "C.UTF-8")

    @property
    def state_dir(self) -> str:
        """Where the journal of this sandbox is."""
        return state_dir(self.env)

    def set(self, env: Mapping[str, str | None]) -> None:
        """Set more variables; None removes one. `{project}` and `{home}` are replaced by the folders. Raises CannotRun
        for a value that would use the user's settings, approvals or journal."""
        for name, value in env.items():
            if value is None:
                self.env.pop(name, None)
            else:
                self.env[name] = value.replace("{project}", self.project).replace("{home}", self.home)
        for name in OWN:
            value = self.env.get(name, "" if name == "HOME" else self.home)
            if not within(os.path.realpath(value or "/"), self.root):
                raise CannotRun(
                    f"`env` {name}: a case uses only its own folders. Name one below {{home}} or {{project}}."
                )

    def lay_out(self, files: Mapping[str, FileEntry], home: Mapping[str, FileEntry]) -> None:
        """Write files in addition to the copied ones, or instead of them."""
        lay_out(self.project, files)
        lay_out(self.home, home)

    def shell(self, line: str, limit_s: float) -> Ended:
        return call(["/bin/sh", "-c", line], None, self.env, Path(self.project), limit_s)

    def fire(self, case: Case, plugins: Sequence[str]) -> Ended:
        """Fire the event of a case, with the engine in a separate process."""
        argv = [sys.executable, "-P", "-m", "anyhook.extra.testing.kit.one_shot"]
        task = {**{field: getattr(case, field) for field in TASK_FIELDS}, "plugin_dirs": plugins}
        return call(argv, lean_json.dumps(task), self.env, Path(self.project), case.limit_s)

    def bridge(self, case: Case, plugins: Sequence[str], stdin: str) -> Ended:
        """The call of a case, as its agent would make it."""
        argv = [*COMMAND, "bridge", case.agent, case.event, "--project", self.project, "--trust", "all"]
        named = {"--dialect": case.dialects, "--plugin-dir": plugins, "--on-failure": [case.on_failure]}
        for flag, values in {**named, "--mode": [case.mode]}.items():
            argv += [word for value in values if value for word in (flag, value)]
        return call(argv, stdin, self.env, Path(self.project), case.limit_s)

    def _path(self, path: str) -> str:
        """PATH with the project's folders replaced by their copies, except those that were not copied."""
        made = []
        for folder in path.split(os.pathsep):
            inside = f"{self.project}{os.path.realpath(folder)[len(self.source) :]}"
            mine = os.path.isabs(folder) and f"{os.path.realpath(folder)}/".startswith(f"{self.source}/")
            made.append(inside if mine and os.path.isdir(inside) else folder)
        return os.pathsep.join(made)


def _copy(source: str, target: str, bring: frozenset[str], root: str) -> None:
    """Copies a tree: only files, folders and links. A link stays one, and leads to the copy if it led inside."""
    copied = 0

    def left_out(folder: str, names: list[str]) -> set[str]:
        below = os.path.relpath(folder, source)
        unwanted = {name for name in LEFT_OUT if os.path.normpath(f"{below}/{name}") not in bring}
        found = set()
        for name in names:
            path = f"{folder}/{name}"
            if os.path.isdir(path) and not os.path.islink(path):
                found |= {name} if name in unwanted or os.path.realpath(path) == root else set()
            elif not (os.path.isfile(path) or os.path.islink(path)):  # a pipe, or removed in the meantime
                found.add(name)
        return found

    def copy(path: str, made: str) -> None:
        nonlocal copied
        if not os.path.exists(path):
            return  # removed in the meantime
        copied += os.path.getsize(path)
        if copied > MAX_COPY:
            raise CannotRun(
                f"the project {source} has more than {MAX_COPY // 1_000_000} MB to copy. Name a smaller one with "
                "--project, or with `project` in the case file."
            )
        shutil.copy2(path, made, follow_symlinks=False)

    shutil.copytree(source, target, symlinks=True, ignore=left_out, copy_function=copy)
    for folder, folders, names in os.walk(target):
        for path in (os.path.join(folder, name) for name in (*folders, *names)):
            aim = os.readlink(path) if os.path.islink(path) else ""
            if os.path.isabs(aim) and within(aim, source):
                os.unlink(path)
                os.symlink(f"{target}{aim[len(source) :]}", path)


def project_of(path: str) -> str | None:
    """The nearest folder above a file that has hooks of any dialect."""
    folder = os.path.dirname(os.path.abspath(path))
    while True:
        if has_hooks(folder):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def project_for(file: str, named: str, otherwise: str) -> str:
    """The project of a case file: the folder that it names, the nearest one above with hooks, or `otherwise`. Raises
    CannotRun if it names one that does not exist."""
    if not named:
        return os.path.realpath(project_of(file) or otherwise)
    folder = os.path.join(os.path.dirname(os.path.abspath(file)), named)
    if not os.path.isdir(folder):
        raise CannotRun(f"{file}: `project` {named}: there is no such directory, seen from the file.")
    return os.path.realpath(folder)


def has_hooks(folder: str) -> bool:
    """Whether a folder has hook files of any dialect."""
    return any(os.path.exists(place) for place in _hook_places(folder))


def _hook_places(project: str) -> Iterator[str]:
    roots = Roots(project, {"HOME": "/nonexistent"})
    for name in DIALECTS:
        for source in dialect(name).find(roots):
            if source.scope == "project" and Files().look(source.path) is not None:
                yield source.path
