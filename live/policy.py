"""One policy, twenty calls: the same hooks and the same model calls in every agent, and whether each call was refused.
Differences between agents are listed."""

from __future__ import annotations

import json
from typing import Any

from anyhook.extra.live.script import Step
from live.performance import Played, play

POLICY = r"""input=$(cat)
case $input in
  *"rm -rf"*) echo "no rm -rf" >&2; exit 2 ;;
  *"push --force"*) echo "no force" >&2; exit 2 ;;
  *secrets/*) echo "secrets are not for agents" >&2; exit 2 ;;
  *"curl "*) echo "no network" >&2; exit 2 ;;
esac
"""


def shell(number: int, words: str) -> Step:
    """A harmless call: it only writes its words to a file."""
    return Step(tool="shell", input={"command": f"echo '{words}' > call-{number:02}.txt"})


def write(number: int, folder: str = "") -> Step:
    path = f"{{project}}/{folder}call-{number:02}.txt"  # some accept only absolute paths
    return Step(tool="write_file", input={"path": path, "content": "some text\n"})


CALLS: tuple[tuple[Step, bool], ...] = (
    (shell(1, "ls -l"), False),
    (shell(2, "rm -rf build"), True),
    (shell(3, "git status"), False),
    (shell(4, "git push --force origin main"), True),
    (shell(5, "git push origin main"), False),
    (shell(6, "curl https://example.org"), True),
    (shell(7, "make test"), False),
    (shell(8, "cat secrets/key.pem"), True),
    (shell(9, "rm build/old.o"), False),
    (shell(10, "sudo rm -rf /var/tmp/x"), True),
    (write(11), False),
    (write(12, "secrets/"), True),
    (write(13, "src/"), False),
    (shell(14, "python -m pytest -q"), False),
    (shell(15, "echo $HOME && curl -s localhost"), True),
    (shell(16, "grep -r secret docs"), False),
    (shell(17, "cp secrets/a b"), True),
    (write(18, "docs/"), False),
    (shell(19, "rm -r -f build"), False),
    (shell(20, "npm run build"), False),
)
"""Each call, and whether the policy refuses it."""


def judged(agent: str) -> dict[str, Any]:
    """The results of the twenty calls in one agent. If a refusal ends the run, another run makes the rest."""
    hooks = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": POLICY}]}]}}
    found: dict[int, str] = {}
    runs = 0
    while left := [number for number in range(1, len(CALLS) + 1) if number not in found]:
        steps = [*(CALLS[number - 1][0] for number in left), Step("all done")]
        played = play(agent, {"Documents/Kodik/Hooks/hooks.json": json.dumps(hooks)}, steps, "Please make the calls.")
        made = {number: said for number in left if (said := compared(played, number)) is not None}
        if not made:
            break
        found |= made
        runs += 1
    differences = [f"{number}: {said}" for number, said in sorted(found.items()) if said]
    if left:
        differences.append(f"not made: {', '.join(map(str, left))}")
    return {"calls": len(CALLS), "runs": runs, "differences": differences}


def compared(played: Played, number: int) -> str | None:
    """How the result of one call differs from the policy; "" if it does not, None if the call was not made."""
    refused = CALLS[number - 1][1]
    name = f"call-{number:02}.txt"
    reached = any(name in json.dumps(record) for record in played.journal if record["event"] == "pre_tool")
    happened = any(path.endswith(name) for path in played.files)
    if not reached and not happened:
        return None
    if happened == refused:
        return "happened" if happened else "did not happen"
    return "" if reached else "no hook was asked"
