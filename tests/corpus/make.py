"""Records the corpus: writes `inputs.json` and `cases.jsonl` from the command as it answers now.

    python tests/corpus/make.py [--because TEXT] [WORD…]

Only for an intended change of answers, or for more cases; review the diff of `cases.jsonl`. With words, only cases that
have one of them in their id or in the name of what they read; the rest is kept. Every call is made twice, in different
folders and in a different order, and must give the same answer. More than 40 changed cases need a reason, which is kept
in `changes.log`: an answer that changes everywhere is seldom intended.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from corpus_box import CASES, CHANGES, COMMAND, INPUTS, Case, about, answer_of, answers, differences, load, save
from corpus_cases import HOSTS, bridged, fired, mixed, payloads, postured, unseen, varied
from corpus_scenes import DIALECTS, OWN, scenes
from corpus_scenes import answers as behaviours
from corpus_vectors import vector_cases

ROOT = Path(__file__).parents[2]
VECTORS = next(ROOT.glob("src/**/vectors/kode/interpret.json")).parents[1]
PAYLOADS = ROOT / "tests/data/payloads"
VECTORS_PER_DIALECT = 24
WITHOUT_REASON = 40
ENDS = {"session_end", "SessionEnd", "sessionEnd", "SessionShutdown", "event.session.deleted"}


def planned() -> tuple[dict[str, dict[str, Any]], list[Case]]:
    """All inputs and all cases, without answers. Ids count within a scene, so new cases change few ids."""
    told = subprocess.run([*COMMAND, "dialects", "--json"], capture_output=True, check=True).stdout
    tables = {row["name"]: row for row in json.loads(told)["dialects"] if row["name"] in DIALECTS}
    found = scenes({name: [event["native"] for event in row["events"]] for name, row in tables.items()})
    stdin = payloads(PAYLOADS)
    stdin |= varied(stdin)
    made_up = unseen(stdin, {host: events_of(host) for host in HOSTS})
    texts = behaviours()
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


def changed(before: Sequence[Case], after: Sequence[Case]) -> list[str]:
    """The ids of the cases that are new, gone, or have another call or answer."""
    old, new = ({case["id"]: json.dumps(case) for case in cases} for cases in (before, after))
    return [name for name in {**old, **new} if old.get(name) != new.get(name)]


def may_save(ids: Sequence[str], because: str) -> bool:
    """Whether this many cases may change; if that needs a reason, it is added to the log."""
    if len(ids) <= WITHOUT_REASON:
        return True
    if not because.strip():
        sys.stderr.write(
            f"{len(ids)} cases would change, for example {', '.join(ids[:5])}; nothing was written. Look at them with\n"
            f"`check.py`. If they are intended, say why: make.py --because TEXT (kept in {CHANGES.name}).\n"
        )
        return False
    with CHANGES.open("a", encoding="utf-8") as log:
        log.write(f"{datetime.now(UTC):%Y-%m-%d} {len(ids)} cases: {' '.join(because.split())}\n")
    return True


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Record the command's answers.")
    parser.add_argument("--because", default="", help=f"why more than {WITHOUT_REASON} cases change")
    parser.add_argument("words", nargs="*", help="only cases with one of these in their id or payload's name")
    options = parser.parse_args(argv)
    inputs, cases = planned()
    before = load()[1] if CASES.exists() and INPUTS.exists() else []
    kept = {case["id"]: answer_of(case) for case in before if options.words and not about(case, options.words)}
    wanted = [case for case in cases if case["id"] not in kept]
    sys.stderr.write(f"{len(wanted)} of {len(cases)} cases, each twice\n")
    recorded = [{**case, **answer} for case, answer in zip(wanted, answers(inputs, wanted), strict=True)]
    again = answers(inputs, recorded[::-1])[::-1]
    unsteady = [line for case, answer in zip(recorded, again, strict=True) for line in differences(case, answer)]
    answered = {case["id"]: answer_of(case) for case in recorded} | kept
    after = [{**case, **answered[case["id"]]} for case in cases]
    if not may_save(changed(before, after), options.because):
        return 1
    save(inputs, after)
    sys.stderr.write("\n".join([*unsteady, f"{len(unsteady)} answers are not steady", ""]))
    return 1 if unsteady else 0


if __name__ == "__main__":
    raise SystemExit(main())
