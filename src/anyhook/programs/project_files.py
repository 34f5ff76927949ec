"""What programs run because a project's files say so: the targets of makefiles, the scripts of `package.json`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

RULE = re.compile(r"^@?([^\s#:=][^#:=]*?)\s*::?(?!=)\s*([^=;#]*)(?:;(.*)|#.*)?$")
RUN_VERBS = ("run", "run-script", "rum", "urn")
SHORT_VERBS = {"test": "test", "t": "test", "tst": "test", "start": "start", "stop": "stop", "restart": "restart"}
LOOKING_VERBS = ("ls", "list", "view", "version", "config", "pkg", "")


class Targets:
    """The targets of makefiles: what each needs and runs. As much of the grammar as that takes."""

    def __init__(self) -> None:
        self.needs: dict[str, list[str]] = {}
        self.lines: dict[str, list[str]] = {}

    def read(self, text: str) -> None:
        current: list[str] = []
        for line in text.replace("\\\n", " ").split("\n"):
            if line[:1] in ("\t", " ") and line.strip():
                self._add(current, line)
            elif found := RULE.match(line):
                current = list(dict.fromkeys(found[1].split()))
                for target in current:
                    self.needs.setdefault(target, []).extend(found[2].replace("|", " ").split())
                self._add(current, found[3] or "")
            elif line.strip() and not line.startswith("#"):
                current = []

    def _add(self, targets: Sequence[str], line: str) -> None:
        recipe = line.strip().lstrip("@-+").replace("$(MAKE)", "make").replace("$$", "$")
        for target in targets if recipe else ():
            self.lines.setdefault(target, []).append(recipe)

    def reached(self, wanted: Sequence[str]) -> dict[str, list[str]]:
        """The targets that are made, and their lines; those of the first target, if none is wanted."""
        waiting = [*wanted] or [target for target in self.needs if not target.startswith(".")][:1]
        found: dict[str, list[str]] = {}
        for target in waiting:  # grows while it is walked
            if target not in found:
                found[target] = self.lines.get(target, [])
                waiting.extend(self.needs.get(target, ()))
        return found


def package_script(words: Sequence[str], listed: Collection[str]) -> str | None:
    """The script of `package.json` that these words run, the options left out; "" if it is not known, None if they run
    nothing."""
    verb = words[0] if words else ""
    if verb in RUN_VERBS and len(words) > 1:
        return words[1]
    if verb in listed:
        return verb
    return SHORT_VERBS.get(verb, None if verb in LOOKING_VERBS else "")
