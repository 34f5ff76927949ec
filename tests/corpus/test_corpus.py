"""The command's answers match the recorded ones: a sample always, all of them in the slow tests."""

from __future__ import annotations

import copy
import json
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import make
import pytest
from corpus_box import (
    CASES,
    Answer,
    Call,
    Case,
    Done,
    answer_of,
    answers,
    differences,
    load,
    normalised,
    packed,
    reduced,
    run_cases,
    sample,
    started,
)

from anyhook.platform.places import state_dir
from command import run
from each_of import each_of
from satellite import satellite
from warm_box import eventually, plain

DIALECTS = ("kode", "kodik", "agenthooks", "kolega", "kodelet", "claude", "codex", "gemini", "qwen", "copilot", "goose")
HOSTS = ("claude", "codex", "gemini", "qwen", "copilot", "goose", "kimi", "vibe", "cline", "opencode")

INPUTS, RECORDED = load()
SAMPLE = sample(RECORDED)
SERVED = [case for case in RECORDED if case["argv"][0] in ("fire", "bridge")]


def forked(words: Sequence[str], stdin: bytes, env: Mapping[str, str], cwd: Path) -> Done:
    return run(words, stdin=stdin, env=env, cwd=cwd, safe=True)


def different(cases: list[dict[str, Any]]) -> list[str]:
    found = answers(INPUTS, cases, call=forked)
    return [line for case, answer in zip(cases, found, strict=True) for line in differences(case, answer)]


def test_there_are_enough_cases_of_everything() -> None:
    dialects = Counter(name for case in RECORDED for name in case["dialects"])
    alone = Counter(case["dialects"][0] for case in RECORDED if len(case["dialects"]) == 1)
    hosts = Counter(case["host"] for case in RECORDED if "host" in case)
    assert len(RECORDED) >= 2000
    assert len(dialects) >= 11
    assert set(dialects) <= set(DIALECTS)
    assert min(alone.values()) >= 150
    assert len(hosts) >= 10
    assert set(hosts) <= set(HOSTS)
    assert min(hosts.values()) >= 100
    assert len({case["id"] for case in RECORDED}) == len(RECORDED)


def test_nothing_of_a_machine_is_recorded() -> None:
    text = CASES.read_text(encoding="utf-8")
    assert "anyhook-corpus-" not in text, "a temporary directory"
    assert "site-packages" not in text


def test_no_wording_of_ours_is_recorded() -> None:
    assert [case["id"] for case in RECORDED if reduced(INPUTS, case, answer_of(case)) != answer_of(case)] == []
    text = "".join(json.dumps(answer_of(case)) for case in RECORDED)
    for words in ('"what":', '"fix":', "gave no reason", "cannot be used", "anyhook trust", "which is anyhook's own"):
        assert words not in text


RECORDED_DIALECTS = {name for case in RECORDED for name in case["dialects"]}
RECORDED_HOSTS = {case["host"] for case in RECORDED if "host" in case}


def test_the_sample_has_every_dialect_and_host() -> None:
    assert {name for case in SAMPLE for name in case["dialects"]} == RECORDED_DIALECTS
    assert {case["host"] for case in SAMPLE if "host" in case} == RECORDED_HOSTS
    assert len(SAMPLE) >= 100


def test_the_sample_is_answered_as_recorded() -> None:
    assert different(SAMPLE) == []


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_every_case_is_answered_as_recorded() -> None:
    assert different(RECORDED) == []


class Noting:
    """Makes calls one after another, and appends the journal lines that each call added to its stderr."""

    def __init__(self, call: Call, counts: list[int] | None = None) -> None:
        self.call, self.counts, self.made = call, counts, list[int]()

    def __call__(self, words: Sequence[str], stdin: bytes, env: Mapping[str, str], cwd: Path) -> Done:
        journal = Path(state_dir(env)) / "journal.jsonl"
        before = len(lines_of(journal))
        done = self.call(words, stdin, env, cwd)
        if self.counts is not None:  # a line may be written shortly after the answer
            wanted = before + self.counts[len(self.made)]
            eventually(lambda: len(lines_of(journal)) >= wanted, f"{words}: a line is missing")
        added = lines_of(journal)[before:]
        self.made.append(len(added))
        stderr = done.stderr + plain(b"".join(added)).encode()
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout, stderr)


def lines_of(journal: Path) -> list[bytes]:
    return journal.read_bytes().splitlines(True) if journal.exists() else []


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_warm_server_answers_and_records_as_a_cold_call(launcher: Path) -> None:
    satellite("warm")
    runtime = tempfile.mkdtemp(prefix="ah-")  # short: a socket path has at most 107 bytes
    command = ("/usr/bin/env", f"XDG_RUNTIME_DIR={runtime}", str(launcher))
    cold = Noting(started(command[0], "ANYHOOK_WARM=off", *command[1:]))
    served = run_cases(INPUTS, SERVED, 1, cold)
    try:
        warm = run_cases(INPUTS, SERVED, 1, Noting(started(*command), cold.made))
        state = json.loads(subprocess.run([*command, "warm", "--json"], capture_output=True, check=True).stdout)
    finally:
        subprocess.run([*command, "warm", "--stop"], capture_output=True, check=True)
        shutil.rmtree(runtime)
    assert [case["id"] for case, one, two in zip(SERVED, served, warm, strict=True) if one != two] == []
    assert sum(cold.made) >= len(SERVED) // 2
    assert state["running"], "no server was there"


def changed(case: dict[str, Any], field: str) -> dict[str, Any]:
    """The case with another expectation in one field."""
    other = copy.deepcopy(case)
    if field == "exit":
        other["exit"] += 1
    elif field == "seen":
        other["seen"] = {name: text + " " for name, text in case["seen"].items()}
    elif field == "verdict":
        other["out"]["verdict"] = "allow"
    elif field == "order":
        other["out"] = dict(reversed(other["out"].items()))
    else:
        other["err"] = "something else\n"
    return other


@pytest.mark.parametrize("field", ["exit", "seen", "verdict", "order", "err"])
def test_an_answer_that_differs_is_found(field: str) -> None:
    case = next(
        case
        for case in RECORDED
        if "seen" in case and isinstance(case.get("out"), dict) and case["out"].get("verdict") == "block"
    )
    assert different([case]) == []
    found = different([changed(case, field)])
    assert len(found) == 1
    assert found[0].startswith(f"{case['id']}: ")


FAILS = {"kode": "exit-1"}
WHOLE: dict[str, tuple[Case, Answer]] = {}
"""Answers with all their words, by the verb that gave them: made once, for the tests below."""


def whole(verb: str) -> tuple[Case, Answer]:
    """A case in which a hook refuses and we add a message, and its answer before it is reduced."""
    if verb not in WHOLE:
        outs = [(case, case.get("out")) for case in RECORDED if case["argv"][0] == verb and case.get("behave") == FAILS]
        case = next(
            case
            for case, out in outs
            if isinstance(out, dict)
            and (out.get("problems") if verb == "fire" else out.get("systemMessage") == "…\noops")
        )
        WHOLE[verb] = case, run_cases(INPUTS, [case], call=forked)[0]
    case, answer = WHOLE[verb]
    return case, copy.deepcopy(answer)


@each_of(
    ("verb", "path", "old", "new"),
    [
        ("fire", ("out", "problems", 0, "what"), "hook", "the program"),
        ("fire", ("out", "problems", 0, "why"), "oops", "It said: oops"),
        ("fire", ("out", "problems", 0, "fix"), "Do what it asks for", "Follow it"),
        ("fire", ("out", "messages", 0), "blocked", "did not want"),
        ("fire", ("out", "messages", 0), "\n  oops", ": oops"),
        ("bridge", ("out", "systemMessage"), "blocked", "did not want"),
    ],
)
def test_another_wording_is_the_same_answer(verb: str, path: tuple[str | int, ...], old: str, new: str) -> None:
    case, answer = whole(verb)
    assert differences(case, reduced(INPUTS, case, answer)) == []
    *before, last = path
    place: Any = answer
    for step in before:
        place = place[step]
    assert old in place[last]
    place[last] = place[last].replace(old, new)
    assert differences(case, reduced(INPUTS, case, answer)) == []


@each_of(
    ("verb", "old", "new"),
    [
        ("fire", '"verdict": "block"', '"verdict": "allow"'),
        ("fire", '"effect": "abort"', '"effect": "deny_tool"'),
        ("fire", '"code": "KODE-HOOK-002"', '"code": "KODE-HOOK-003"'),
        ("fire", '"exit_code": 1', '"exit_code": 2'),
        ("fire", '"exit": 2', '"exit": 0'),
        ("fire", "session_id", "sessionId"),
        ("fire", "\\n  oops", ""),
        ("fire", '"reason": "oops"', '"reason": "h.sh gave no reason"'),
        ("bridge", '"permissionDecision": "deny"', '"permissionDecision": "ask"'),
        ("bridge", '"systemMessage"', '"message"'),
        ("bridge", "oops", ""),
    ],
)
def test_another_decision_code_or_payload_is_not(verb: str, old: str, new: str) -> None:
    case, answer = whole(verb)
    text = json.dumps(answer)
    assert old in text
    assert differences(case, reduced(INPUTS, case, json.loads(text.replace(old, new))))


@each_of(
    ("text", "kept"),
    [
        ("hands off", "hands off"),
        ("A hook refused this: hands off", "…\nhands off"),
        ("A hook says no: hands off", "…\nhands off"),
        ("[Hook blocked stop: hands off]", "…\nhands off"),
        ("hands off\n\nA hook did this", "…\nhands off"),
        ("error: h.sh: it failed [hook-failed]\n    why: it is old", "…\n[hook-failed]"),
        ('Call it again with exactly: {"command": "pwd"}', '…\n{"command": "pwd"}'),
        ("nothing of a hook", "…"),
        ("deny_tool", "deny_tool"),
        ("", ""),
    ],
)
def test_what_a_hook_said_stays(text: str, kept: str) -> None:
    case = next(case for case in RECORDED if case.get("behave") == {"claude": "exit-2"})
    answer = reduced(INPUTS, case, {"exit": 0, "out": {"reason": text}, "err": text})
    assert answer == {"exit": 0, "out": {"reason": kept}, "err": kept}
    assert reduced(INPUTS, case, answer) == answer


def test_many_changes_need_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "changes.log"
    monkeypatch.setattr(make, "CHANGES", log)
    other = [{**case, "exit": case["exit"] + 1} for case in RECORDED[:41]]
    ids = make.changed(RECORDED, [*other, *RECORDED[41:]])
    assert ids == [case["id"] for case in other]
    assert make.changed(RECORDED, RECORDED[1:]) == [RECORDED[0]["id"]]
    assert make.may_save(ids[:40], "")
    assert not make.may_save(ids, " ")
    assert not log.exists()
    assert make.may_save(ids, "another\nexit status")
    assert log.read_text(encoding="utf-8").endswith(" 41 cases: another exit status\n")


def test_a_missing_answer_is_a_difference() -> None:
    case = RECORDED[0]
    assert differences(case, answer_of(case)) == []
    assert differences(case, {"exit": case["exit"]})


@each_of(
    ("one", "other"),
    [
        ('{"a": 1}\n', '{"a":1}\n'),
        ('{"a": 1}\n', '{"a": 1}'),
        ('{"a": 1}\n', '{"a": 1.0}\n'),
        ('{"a": 1}\n', '{\n  "a": 1\n}\n'),
        ('{"a": "é"}\n', '{"a": "\\u00e9"}\n'),
        ('{"a": 1, "b": 2}\n', '{"b": 2, "a": 1}\n'),
        ("", "\n"),
        ("true\n", "1\n"),
    ],
)
def test_other_bytes_are_packed_otherwise(one: str, other: str) -> None:
    assert json.dumps(packed(one)) != json.dumps(packed(other))


def test_only_what_is_volatile_is_made_the_same() -> None:
    text = '{"duration_ms": 12.5, "at": "2026-11-15T18:16:39.954Z", "dir": "/r/home", "reason": "12.5 ms"}'
    assert normalised(text, "/r") == '{"duration_ms": 0, "at": "{time}", "dir": "{root}/home", "reason": "12.5 ms"}'
