"""How many destructive commands the guards refuse, and how many harmless ones pass: of the commands that rules are
tuned to, and of those kept aside. `python tests/guards/corpus/measure.py [--misses] [--category NAME]`; misses are
shown of the tuned part only, so that nobody tunes to the rest."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from load import HERE, KINDS, Command, commands

from anyhook.documents.files import Files
from anyhook.facts.calls import facts_of
from anyhook.facts.facts import Facts
from anyhook.model.event import Event
from anyhook.model.hook import Hook, Source
from anyhook.rules.evaluate import Hits, RuleCall, holds
from anyhook.rules.paths import Places

HOME, PROJECT = "/home/dev", "/home/dev/work/shop"
GUARDS = ("files", "git", "code", "secrets", "data", "infrastructure", "system", "outside", "rules")


def rules() -> list[Hook]:
    """The rules of all guards; a rule that cannot be used ends the measurement."""
    from anyhook.agents.anyhook import EVENTS, LIMITS
    from anyhook.rules.rule_file import RuleFile

    files = Files()
    source = Source("anyhook", "user", str(HERE / "hooks.toml"), str(HERE))
    found = RuleFile(source, files, EVENTS, LIMITS["command"]).read({"use": [*GUARDS]})
    if files.problems:
        sys.exit("\n".join(f"{problem.where}: {problem.what} {problem.fix}" for problem in files.problems))
    return found


class Judge:
    """Judges commands by all rules, without a walk around it."""

    def __init__(self) -> None:
        self.rules = rules()
        self.places = Places(HOME, PROJECT)

    def refusals(self, command: str) -> list[str]:
        """The names of the rules that refuse it."""
        given = {"command": command}
        event = Event("pre_tool", {"tool": "Bash", "input": {**given}})
        made: list[Facts] = []

        def facts() -> Facts:
            if not made:
                made.append(facts_of("Bash", given, cwd=PROJECT, home=HOME, project=PROJECT))
            return made[0]

        call = RuleCall(event, "", self.places, facts)
        return [
            f"{Path(rule.source).stem}/{rule.name}"
            for rule in self.rules
            if rule.spec["then"] in ("deny", "ask")
            and holds(rule.spec["tree"], call, Hits(rule.spec.get("except") or ()))  # type: ignore[arg-type]
        ]


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
