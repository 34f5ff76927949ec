"""Changes: what installing or uninstalling does to each file. The changes are computed first and then written, all or
none. Every file is replaced atomically, so that an agent sees the old text or the new one."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from anyhook.documents.edit import CannotEdit
from anyhook.documents.read import Unreadable, read_bytes
from anyhook.install.entries import EntryStart, cannot_edit, is_own_text, own_text, with_ours, without_ours
from anyhook.model.record import Record
from anyhook.platform.places import replace_file
from anyhook.state.entry_places import OWN, roots_of
from anyhook.state.installs import Installs
from anyhook.tables.host_rows import Entry, Host

if TYPE_CHECKING:
    from anyhook.install.entries import Closed


class CannotChange(Exception):  # noqa: N818 (it says what happened)
    """Why a file cannot be changed."""


class FileChange(Record):
    """One file, before and after; None for no file."""

    path: str
    before: bytes | None
    after: bytes | None
    original: bytes | None
    """What was there before our first change, if it can be restored."""
    executable: bool = False

    @property
    def needed(self) -> bool:
        return self.before != self.after


def places(
    host: Host, entry: Entry, scope: str, home: str, project: str, env: Mapping[str, str], name: str = ""
) -> dict[str, str]:
    """Path → native event ("" for a file that serves all of them). `name` stands for the user's own name."""
    if scope not in entry.files:
        raise CannotChange(f"{host.title} has no hooks of a project; use --scope {' or '.join(entry.files)}.")
    roots = roots_of(entry, home, project, env)
    path = entry.files[scope].format(**{**roots, **({"own": name} if name else {})})
    if entry.style == "scripts":
        return {f"{path}/{row.native}": row.native for row in host.events if row.installed}
    found = {path: ""}
    found.update({os.path.normpath(os.path.join(os.path.dirname(path), name)): "" for name in entry.beside})
    return found


def has_own_name(entry: Entry) -> bool:
    return OWN in "".join([*entry.files.values(), *(str(value) for value in entry.handler.values())])


def called(entry: Entry, name: str) -> Entry:
    """The entry with its handlers under this name."""
    handler = {
        key: value.replace(OWN, name) if isinstance(value, str) else value for key, value in entry.handler.items()
    }
    return entry.replace(handler=handler)


def to_install(
    host: Host, entry: Entry, paths: Mapping[str, str], launch: EntryStart, installs: Installs, closed: Closed
) -> list[FileChange]:
    """What must be written so that the agent calls us."""
    made: list[FileChange] = []
    for path, native in paths.items():
        before = _read(path)
        again, original = installs.before(path, before)
        if entry.owned:
            text = _beside(entry, path) or own_text(host, entry, launch, closed, host.row(native))
            if (
                before is not None
                and before.decode("utf-8", "replace") != text
                and not is_own_text(_text(path, before), host)
            ):
                raise CannotChange(f"{path} is there already and is not ours. Move it away, then install again.")
            made.append(FileChange(path, before, text.encode(), None, entry.style == "scripts"))
            continue
        text = _text(path, before)
        try:
            after = with_ours(text, host, entry, launch, closed)
            if not again:
                original = (
                    before if text == without_ours(text, host, entry) else without_ours(text, host, entry).encode()
                )
        except CannotEdit as why:
            raise CannotChange(cannot_edit(path, host, why)) from None
        made.append(FileChange(path, before, after.encode(), original))
    return made


def to_uninstall(host: Host, entry: Entry, paths: Mapping[str, str], installs: Installs) -> list[FileChange]:
    """What must be written so that the agent no longer calls us."""
    made: list[FileChange] = []
    for path in paths:
        before = _read(path)
        if before is None:
            made += [FileChange(path, None, None, None)] if installs.scope(path) else []  # to be forgotten
            continue
        exact, original = installs.before(path, before)
        if entry.owned:
            after = before if not exact and not is_own_text(_text(path, before), host) else None
        elif exact:
            after = original
        else:
            try:
                after = without_ours(_text(path, before), host, entry).encode()
            except CannotEdit as why:
                raise CannotChange(f"{path} is left alone: {why}.") from None
        made.append(FileChange(path, before, after, None))
    return made


def write(changes: Sequence[FileChange], host: Host, scope: str, installs: Installs, *, install: bool) -> list[str]:
    """Write them all, or restore what was written so far; returns the paths of the backups."""
    done: list[FileChange] = []
    backups: list[str] = []
    made: list[str] = []
    try:
        for change in changes:
            folders = tuple(_write(change))
            done.append(change)
            if not install or change.after is None:
                made += installs.folders(change.path)
                installs.forget(change.path)
            elif change.needed or not installs.scope(change.path):
                earlier = installs.folders(change.path)
                backup = installs.keep(change.path, host.name, scope, change.original, change.after, folders or earlier)
                backups += [backup] if backup else []
    except OSError as error:
        for change in reversed(done):
            _write(change.replace(before=change.after, after=change.before))
        raise CannotChange(f"{error.filename}: {error.strerror}. Nothing was changed.") from None
    for folder in sorted(made, key=len, reverse=True):
        _drop(folder)
    return backups


def _beside(entry: Entry, path: str) -> str:
    return next((text for name, text in entry.beside.items() if path.endswith(f"/{name.rpartition('/')[2]}")), "")


def _read(path: str) -> bytes | None:
    try:
        return read_bytes(path)
    except FileNotFoundError:
        return None
    except (OSError, Unreadable) as error:
        raise CannotChange(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from None


def _text(path: str, data: bytes | None) -> str:
    try:
        return (data or b"").decode()
    except UnicodeDecodeError:
        raise CannotChange(f"{path} is left alone: it is not UTF-8.") from None


def _write(change: FileChange) -> list[str]:
    """Write one file; returns the folders created for it, the innermost first. A link stays a link."""
    if not change.needed:
        return []
    path = os.path.realpath(change.path)
    if change.after is None:
        os.unlink(path)
        return []
    folders: list[str] = []
    folder = os.path.dirname(path)
    while not os.path.isdir(folder):
        folders.append(folder)
        folder = os.path.dirname(folder)
    for folder in reversed(folders):
        os.mkdir(folder)
    mode = os.stat(path).st_mode & 0o777 if os.path.exists(path) else (0o755 if change.executable else 0o644)
    replace_file(path, change.after, mode)
    return folders


def _drop(folder: str) -> None:
    """Remove our folder, unless someone else put something into it."""
    try:
        os.rmdir(folder)
    except OSError:
        pass
