"""How many destructive commands the guards refuse, and how many harmless ones pass: of the commands that rules are
tuned to, and of those kept aside. `python tests/guards/measure.py [--misses] [--category NAME]`; misses are
shown of the tuned part only, so that nobody tunes to the rest."""

from __future__ import annotations

import sys
from collections import Counter

from guard_corpus import KINDS, Command, Judge, commands


def main() -> None:
    words = sys.argv[1:]
    category = words[words.index("--category") + 1] if "--category" in words else ""
    judge = Judge()
    for kind in KINDS:
        right: Counter[bool] = Counter()
        total: Counter[bool] = Counter()
        misses: list[tuple[Command, list[str]]] = []
        for command in commands(kind):
            if category and command.category != category:
                continue
            refused = judge.refusals(command.text)
            good = bool(refused) == (kind == "destructive")
            total[command.kept_aside] += 1
            right[command.kept_aside] += good
            if not good and not command.kept_aside:
                misses.append((command, refused))
        for aside, name in ((False, "tuned"), (True, "kept aside")):
            share = right[aside] / max(total[aside], 1)
            print(f"{kind:12} {name:10} {right[aside]:5} of {total[aside]:5}  {share:6.1%}")  # noqa: T201
        for command, refused in misses if "--misses" in words else ():
            print(f"  {command.category}: {command.text!r} {refused or ''}")  # noqa: T201


if __name__ == "__main__":
    main()
