"""Packages of rules from elsewhere: a folder, or a git repository at a revision. They are copied next to the rule file
that uses them and pinned in `anyhook.lock`: where they came from, the revision, and the bytes of every file. No part of
a package runs while it is fetched or shown."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from anyhook.documents.pins import FOLDER, LOCK
from anyhook.model.record import Record
from anyhook.platform.other_programs import ask
from anyhook.platform.places import replace_file

LEFT_OUT = (".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv")
PLACE = ".anyhook/hooks.toml"
MAX_FILES, MAX_BYTES = 500, 1 << 20
GIT_LIMIT_S = 120.0
QUIET_GIT = {
    "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_COUNT": "2", "GIT_CONFIG_KEY_0": "core.hooksPath",
    "GIT_CONFIG_VALUE_0": os.devnull, "GIT_CONFIG_KEY_1": "protocol.ext.allow", "GIT_CONFIG_VALUE_1": "never",
}  # fmt: skip
"""Fetching a repository never prompts, and runs no hook and no helper."""


class BadPackage(Exception):  # noqa: N818 (it says what is wrong)
    """Why a package cannot be added."""


class Package(Record):
    """A package as it was found."""

    name: str
    source: str
    """Where it came from: a path or an address."""
    revision: str
    """The commit; "" for a plain folder."""
    files: Mapping[str, bytes]
    """Its files by their path in it."""

    @property
    def rule_files(self) -> list[str]:
        """Files that a rule file must `use`; one at its usual place is found like other hooks."""
        toml = [path for path in sorted(self.files) if path.endswith(".toml") and path != PLACE]
        return [path for path in toml if rules_in(self.files[path])]

    def rules(self) -> list[Mapping[str, object]]:
        """All rules, only to show them; the loader checks them."""
        return [rule for path in self.rule_files for rule in rules_in(self.files[path])]

    def pins(self) -> dict[str, str]:
        return {path: hashlib.sha256(data).hexdigest() for path, data in sorted(self.files.items())}


def is_package(what: str) -> bool:
    """Whether a word names a place rather than a pack."""
    return "/" in what or what.startswith((".", "git@")) or os.path.isdir(what)


def fetch(what: str) -> Package:
    """The package at a path or an address, followed by `@REV` for a revision of a repository."""
    place, revision = split_revision(what)
    remote = "://" in place or place.startswith("git@")
    folder = place if remote else os.path.realpath(os.path.expanduser(place))
    if not remote and not os.path.isdir(folder):
        raise BadPackage(f"{folder} is not a folder. Give a folder, or the address of a git repository.")
    name = os.path.basename(folder.rstrip("/")).removesuffix(".git").lower().replace(" ", "-")
    if not name.strip("."):
        raise BadPackage(f"{what} has no name. Give a folder with one.")
    if not remote and not revision and not is_repository(folder):
        return Package(name, folder, "", dict(_read(folder)))
    with checkout(folder, revision) as (tree, commit):
        return Package(name, folder, commit, dict(_read(tree)))


def is_repository(folder: str) -> bool:
    """Whether it is a clone, a worktree, or a repository without one."""
    bare = os.path.isfile(f"{folder}/HEAD") and os.path.isdir(f"{folder}/objects")
    return bare or os.path.exists(f"{folder}/.git")


def split_revision(what: str) -> tuple[str, str]:
    place, sign, revision = what.rpartition("@")
    if not sign or not place or "/" in revision or ":" in revision:
        return what, ""
    return (what, "") if os.path.isdir(what) else (place, revision)


@contextmanager
def checkout(address: str, revision: str) -> Iterator[tuple[str, str]]:
    """A repository's files at a revision, in a temporary folder, and the commit."""
    if shutil.which("git") is None:
        raise BadPackage("git is not on the PATH, and this package is a repository.")
    with tempfile.TemporaryDirectory(prefix="anyhook-package-") as folder:
        git("clone", "--quiet", "--no-checkout", "--", address, folder)
        git("-C", folder, "checkout", "--quiet", "--detach", revision or "HEAD", "--")
        yield folder, git("-C", folder, "rev-parse", "HEAD").strip()


def git(*words: str) -> str:
    try:
        done = ask(("git", *words), GIT_LIMIT_S, env={**os.environ, **QUIET_GIT}, keeps_terminal=True)
    except OSError as error:
        raise BadPackage(f"git could not fetch it: {error}") from None
    if done.status:
        raise BadPackage(f"git could not fetch it: {done.complaint()}")
    return done.out.decode("utf-8", "replace")


def _read(folder: str) -> Iterator[tuple[str, bytes]]:
    """The files of a package. Links are not followed: they could lead anywhere."""
    count = 0
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT)
        for name in sorted(names):
            path = os.path.join(where, name)
            if os.path.islink(path) or not os.path.isfile(path):
                continue
            count += 1
            if count > MAX_FILES or os.path.getsize(path) > MAX_BYTES:
                raise BadPackage(f"{folder} has too many or too large files for a package of rules (at {path}).")
            with open(path, "rb") as file:
                yield os.path.relpath(path, folder), file.read()


def rules_in(data: bytes) -> list[Mapping[str, object]]:
    try:
        found = tomllib.loads(data.decode()).get("rule")
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        return []
    return [rule for rule in found if isinstance(rule, dict)] if isinstance(found, list) else []


def read_lock(rule_file: str) -> dict[str, Any]:
    """The pins next to a rule file, by package."""
    try:
        with open(_lock(rule_file), "rb") as file:
            found = json.load(file)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise BadPackage(f"{_lock(rule_file)} cannot be read: {error}") from None
    packages = found.get("packages") if isinstance(found, dict) else None
    return packages if isinstance(packages, dict) else {}


def current_files(rule_file: str, name: str) -> dict[str, bytes]:
    """The current files of a package next to a rule file."""
    folder = folder_of(rule_file, name)
    return dict(_read(folder)) if os.path.isdir(folder) else {}


def put(package: Package, rule_file: str) -> list[str]:
    """Copies a package next to a rule file and pins it; returns the names for `use`."""
    drop_files(rule_file, package.name)
    write_files(package.files, folder_of(rule_file, package.name))
    pinned = {"source": package.source, "revision": package.revision, "files": package.pins()}
    _write_lock(rule_file, {**read_lock(rule_file), package.name: pinned})
    return [f"{FOLDER}/{package.name}/{path}" for path in package.rule_files]


def write_files(files: Mapping[str, bytes], folder: str) -> None:
    for path, data in files.items():
        target = os.path.join(folder, path)
        os.makedirs(os.path.dirname(target), 0o755, exist_ok=True)
        replace_file(target, data, 0o755 if data.startswith(b"#!") else 0o644)


def drop(rule_file: str, name: str) -> None:
    """Remove a package and its pins."""
    drop_files(rule_file, name)
    _write_lock(rule_file, {key: value for key, value in read_lock(rule_file).items() if key != name})


def drop_files(rule_file: str, name: str) -> None:
    folder = folder_of(rule_file, name)
    if os.path.isdir(folder):
        shutil.rmtree(folder)
        if not os.listdir(os.path.dirname(folder)):
            os.rmdir(os.path.dirname(folder))


def _write_lock(rule_file: str, packages: Mapping[str, Any]) -> None:
    if not packages:
        if os.path.exists(_lock(rule_file)):
            os.unlink(_lock(rule_file))
        return
    os.makedirs(os.path.dirname(rule_file), exist_ok=True)
    text = json.dumps({"version": 1, "packages": packages}, indent=2, sort_keys=True)
    replace_file(_lock(rule_file), f"{text}\n".encode(), 0o644)


def _lock(rule_file: str) -> str:
    return os.path.join(os.path.dirname(rule_file), LOCK)


def folder_of(rule_file: str, name: str) -> str:
    """Where a package is kept."""
    return os.path.join(os.path.dirname(rule_file), FOLDER, name)
