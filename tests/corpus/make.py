"""Records the corpus: writes `inputs.json` and `cases.jsonl` from the command as it answers now.

    python tests/corpus/make.py [WORD…]

Only for an intended change of answers, or for more cases; review the diff of `cases.jsonl`. With words, only cases that
have one of them in their id or in the name of what they read; the rest is kept. Every call is made twice, in different
folders and in a different order, and must give the same answer.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from corpus_box import COMMAND, Case, about, answer_of, differences, load, run_cases, save
from corpus_cases import HOSTS, bridged, fired, mixed, payloads, postured, unseen, varied
from corpus_scenes import DIALECTS, OWN, answers, scenes
from corpus_vectors import vector_cases

ROOT = Path(__file__).parents[2]
VECTORS = next(ROOT.glob("src/**/vectors/kode/interpret.json")).parents[1]
PAYLOADS = ROOT / "tests/data/payloads"
VECTORS_PER_DIALECT = 24
ENDS = {"session_end", "SessionEnd", "sessionEnd", "SessionShutdown", "event.session.deleted"}


def planned() -> tuple[dict[str, dict[str, Any]], list[Case]]:
    """All inputs and all cases, without answers. Ids count within a scene, so new cases change few ids."""
    told = subprocess.run([*COMMAND, "dialects", "--json"], capture_output=True, check=True).stdout
    tables = {row["name"]: row for row in json.loads(told)["dialects"] if row["name"] in DIALECTS}
    found = scenes({name: [event["native"] for event in row["events"]] for name, row in tables.items()})
    stdin = payloads(PAYLOADS)
    stdin |= varied(stdin)
    made_up = unseen(stdin, {host: events_of(host) for host in HOSTS})
    texts = answers()
    cases = [*fired(tables, list(texts)), *postured(tables), *bridged(stdin), *mixed(stdin), *bridged(made_up, 4)]
    more, copied = vector_cases(VECTORS, DIALECTS, VECTORS_PER_DIALECT)
    numbers: Counter[str] = Counter()
    named = []
    for case in [*cases, *copied]:
        prefix = f"{case['scene']}-{case['argv'][0]}"
        numbers[prefix] += 1
        if not (left_out(case, numbers[prefix]) or hurried(case)):
            fresh = {"fresh": True} if past_counts(case) else {}
            named.append({"id": f"{prefix}-{numbers[prefix]}", **case, **fresh})
    return {"scenes": {**found, **more}, "answers": texts, "stdin": {**stdin, **made_up}}, named


def events_of(host: str) -> list[str]:
    """The events that the command accepts from a host, taken from its message about an unknown one."""
    told = subprocess.run(
        [*COMMAND, "bridge", host, "Nope"], input="", capture_output=True, text=True, check=False
    ).stderr
    return told.rpartition("Events: ")[2].strip().rstrip(".").split(", ")


def left_out(case: Case, number: int) -> bool:
    """Whether to leave a case out to keep the file small: every other undocumented answer, and four long lists."""
    scene: str = case["scene"]
    verb: str = case["argv"][0]
    name = scene.removeprefix("user-")
    if verb == "fire" and name in OWN:
        return number % 2 == 0 and str(case["behave"][name]) not in OWN[name]
    return verb == "list" and scene.startswith("settings-") and scene != "settings-odd"


def hurried(case: Case) -> bool:
    """Whether the call's hooks get too little time for a busy machine: two agents give 1 to 3 s when a session ends."""
    ends = ENDS.intersection(case["argv"][1:3])
    fast = {"claude", "codex"}.intersection([*case["dialects"], case.get("host")])
    return bool(ends and fast and case["argv"][0] in ("fire", "bridge"))


def past_counts(case: Case) -> bool:
    """Whether earlier calls matter: kodelet's executables are asked for their event only once, and read-only calls show
    whether that has happened."""
    return case["argv"][0] in ("list", "explain") or case["scene"].startswith(
        ("project-kodelet", "both-kodelet", "all-project", "settings-")
    )


def main() -> int:
    words = sys.argv[1:]
    inputs, cases = planned()
    kept = {case["id"]: answer_of(case) for case in load()[1] if not about(case, words)} if words else {}
    wanted = [case for case in cases if case["id"] not in kept]
    sys.stderr.write(f"{len(wanted)} of {len(cases)} cases, each twice\n")
    recorded = [{**case, **answer} for case, answer in zip(wanted, run_cases(inputs, wanted), strict=True)]
    again = run_cases(inputs, recorded[::-1])[::-1]
    unsteady = [line for case, answer in zip(recorded, again, strict=True) for line in differences(case, answer)]
    answered = {case["id"]: answer_of(case) for case in recorded} | kept
    save(inputs, [{**case, **answered[case["id"]]} for case in cases])
    sys.stderr.write("\n".join([*unsteady, f"{len(unsteady)} answers are not steady", ""]))
    return 1 if unsteady else 0


if __name__ == "__main__":
    raise SystemExit(main())
