"""A package before it is added: what it would run, how it differs from the installed one, and its approval."""

from __future__ import annotations

import difflib
import os
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from anyhook.cli.options import ProjectOptions
from anyhook.cli.verb_trust import approve_some, forget_removed, look, refuse_own_ledger
from anyhook.cli.view.review_text import what_it_runs
from anyhook.install.packages import write_files
from anyhook.walk.review import REMOVED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from anyhook.install.packages import Package


def described(package: Package) -> list[str]:
    """The hooks of a package and what they run, in any dialect. It starts none of them."""
    with TemporaryDirectory(prefix="anyhook-package-") as made:
        folder = os.path.realpath(made)
        write_files(package, folder)
        entries = look(ProjectOptions(project=folder)).entries
        lines = [line for entry in entries if entry.status != REMOVED for line in what_it_runs(entry)]
        return [f"  {line.replace(f'{folder}/', '')}" for line in lines]


def rule_lines(package: Package) -> Iterator[str]:
    """The rules of files that a rule file uses."""
    for rule in package.rules():
        condition = next((f"{key} {rule[key]}" for key in ("when", "before", "after") if key in rule), "")
        yield f"  {rule.get('then', 'run' if 'run' in rule else 'deny'):<8} {rule.get('name', '')}: {condition}"
        if "run" in rule:
            yield f"           runs: {rule['run']}"


def differences(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[str]:
    """What an update changes, file by file."""
    lines: list[str] = []
    for path in sorted({*before, *after}):
        old, new = before.get(path, b""), after.get(path, b"")
        if old != new:
            was, will = (data.decode("utf-8", "replace").splitlines() for data in (old, new))
            lines += difflib.unified_diff(was, will, f"a/{path}", f"b/{path}", lineterm="")
    return lines or ["  nothing has changed"]


def approve_folder(folder: str) -> int:
    """Approve the hooks of a package whose content the user has just accepted. Returns how many."""
    found = look(ProjectOptions(project=folder))
    own = [entry for entry in found.entries if not entry.project]  # not those of the folders above
    if not own:
        return 0
    found = found.replace(entries=own)
    refuse_own_ledger(found.setup)
    forget_removed(found)
    return approve_some(found, [entry.item.id for entry in found.waiting])


def forget_folder(folder: str) -> None:
    """Withdraw the approval of a package that is about to be removed."""
    if os.path.isdir(folder):
        look(ProjectOptions(project=folder)).ledger.revoke(folder)
