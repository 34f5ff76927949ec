"""How many destructive commands the guards refuse, and how many harmless ones pass: of the commands that rules are
tuned to, and of those held out. `python tests/guards/measure.py [--misses] [--category NAME]`. Misses are
shown only for the tuned part, so that nobody tunes to the rest.

It then says how many calls of ordinary work are denied, and how many the user is asked about.

`python tests/guards/measure.py FILE.jsonl [PROJECT]` measures a file from elsewhere: lines with `tool`, `input` and
`label`, which is `destructive` or `harmless`. Lines without a label are calls of sessions, with the `agent`, the
session's `project` and `home`, and the folder of the call, `cwd`: how many are denied and asked about, rule by rule."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from guard_corpus import KINDS, WORK_SETS, Command, Judge, commands, work_calls


def main() -> None:
    words = sys.argv[1:]
    if words and words[0].endswith(".jsonl"):
        measure_file(Path(words[0]), Judge(None, *words[1:2]))
        return
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
    for name in WORK_SETS if not category else ():
        said = Counter(judge.verdict(tool, given) for _, tool, given in work_calls(name))
        print(f"{name:12} {said.total():5} calls, {said['deny']:3} denied, {said['ask']:3} asked about")  # noqa: T201


def measure_file(path: Path, judge: Judge) -> None:
    calls = [json.loads(line) for line in path.read_text().splitlines() if line]
    sessions = [call for call in calls if "label" not in call]
    said: Counter[tuple[str, str]] = Counter()
    for call in sessions:
        there = judge.at(call)
        if verdict := there.verdict(call["tool"], call["input"]):
            said[verdict, ", ".join(there.refusals_of(call["tool"], call["input"]))] += 1
    for verdict in ("deny", "ask") if sessions else ():
        count = sum(number for (found, _), number in said.items() if found == verdict)
        print(f"{verdict:5} {count:4} of {len(sessions)}, {1000 * count / len(sessions):.1f} in 1,000")  # noqa: T201
    for (verdict, rules), number in said.most_common():
        print(f"  {number:4} {verdict:5} {rules}")  # noqa: T201
    for kind in KINDS if len(sessions) < len(calls) else ():
        given = [call for call in calls if call.get("label") == kind]
        right = sum(bool(judge.refusals_of(call["tool"], call["input"])) == (kind == "destructive") for call in given)
        print(f"{kind:12} {right:5} of {len(given):5}  {right / max(len(given), 1):6.1%}")  # noqa: T201


if __name__ == "__main__":
    main()
