"""Packaged hooks: folders of hooks from elsewhere that `anyhook add` has put next to the rules of a user or a project.
Each is read like a separate project: its hooks have the package's folder as their project, and run once somebody has
approved their content for that folder. They cannot hide or switch off another folder's hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyhook.documents.lock import FOLDER, packages_in
from anyhook.documents.places import lies_in
from anyhook.install.used_packs import rule_file
from anyhook.walk.discover import discover
from anyhook.walk.load import load
from anyhook.walk.trust import trust

if TYPE_CHECKING:
    from anyhook.documents.files import Files
    from anyhook.model.hook import Hook, Layer
    from anyhook.model.words import Trust
    from anyhook.state.ledger import Ledger
    from anyhook.state.plans import Setup
    from anyhook.tables.rows import Dialect, Roots

SCOPES = ("user", "project")
TRUST, GUARDS = "anyhook trust", "anyhook guards"


def package_folders(setup: Setup, files: Files) -> dict[str, str]:
    """The folders and names of all packages."""
    found: dict[str, str] = {}
    for scope in SCOPES:
        folder = rule_file(scope, setup.project, setup.env).rpartition("/")[0]
        found.update({f"{folder}/{FOLDER}/{name}": name for name in packages_in(folder, files)})
    return found


def package_layers(table: Dialect, roots: Roots, mode: Trust, ledger: Ledger, files: Files) -> list[Layer]:
    """The approved part of what a package declares in one dialect. The package's folder is the project of the roots."""
    found = [source for source in discover(table, roots) if source.scope == "project"]
    places = [source for source in found if lies_in(source.path, roots.project)]
    layers = [load(table, source, files) for source in places if files.look(source.path) is not None]
    return trust(table, layers, mode, ledger, roots, files)


def named(hook: Hook, package: str, folder: str) -> Hook:
    """A package's hook, with the package in its id."""
    dialect, _scope, rest = hook.id.split(":", 2)
    why = hook.why.replace(f"`{TRUST}`", f"`{TRUST} --project {folder}`")
    return hook.replace(id=f"{dialect}:package:{package}:{rest}", project=folder, why=why)


def is_packaged(hook: Hook) -> bool:
    return hook.id.startswith(f"{hook.dialect}:package:")


def approval_of(hook: Hook) -> str:
    """The command that shows a waiting hook to its user and lets them approve it."""
    if hook.scope == "user":
        return GUARDS  # a rule of a package that has changed
    return f"{TRUST} --project {hook.project}" if is_packaged(hook) else TRUST
