"""The recorded corpus: how one case is laid out, run, made comparable and compared.

It uses only the command's public interface (`fire`, `bridge`, `explain`, `list`) and never imports our modules, so it
does not depend on the code behind the command. Inputs and answers are data: `inputs.json` has the temporary homes and
projects, what their hooks answer and what agents send; every line of `cases.jsonl` is one call and its recorded answer.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
INPUTS = HERE / "inputs.json"
CASES = HERE / "cases.jsonl"
CHANGES = HERE / "changes.log"

ROOMS = ("home", "project", "plugin")
CALL_LIMIT_S = 120
"""A limit for a command that hangs; no answer depends on it."""
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
# -P: the process starts in the case's project, whose files must not be importable by accident.
COMMAND = (sys.executable, "-P", "-m", "anyhook")
ANSWER = ("exit", "out", "form", "err", "seen")
"""The fields of a case that are recorded; all others are its input."""

FORMS = {"line": (None, False), "tree": (2, False), "ascii line": (None, True), "ascii tree": (2, True)}
"""How JSON is printed: its indentation, and whether non-ASCII characters are escaped."""
BLANK: dict[str, Any] = {
    "event": "", "verdict": "none", "effect": None, "reason": None, "hook": None, "tool_input": None,
    "tool_output": None, "prompt": None, "context": [], "messages": [], "follow_ups": [], "history": None,
    "recipe": None, "end_turn": False, "enforced": True, "hooks": None, "problems": [],
}  # fmt: skip
RECORD = (
    "id", "name", "dialect", "scope", "source", "status", "why", "ending", "exit_code", "duration_ms", "stdout",
    "stderr", "verdict",
)  # fmt: skip
BLANK_RECORD: dict[str, Any] = {
    "status": "ran", "why": "", "ending": "exited", "exit_code": 0, "duration_ms": 0, "stdout": "", "stderr": "",
    "verdict": "none",
}  # fmt: skip
"""Fields of a decision and of a hook's record that are left out of the file if they have these values."""
VERBATIM = ("stdout", "stdin", "argv", "env", "cwd", "command")
"""Fields of a hook: what it printed, how it is started and what it reads. Its stderr may be a shell's or Python's."""
CODE = re.compile(r"\[[A-Za-z]+(?:-[A-Za-z0-9]+)+\]$")
OUR_WORDS = {"problems": ("what", "why", "fix"), "hooks": ("why",), "builtins": ("why",)}
"""Fields with our wording, by the list that has them. They are not recorded."""

Case = dict[str, Any]
Answer = dict[str, Any]
Inputs = dict[str, dict[str, Any]]
Done = subprocess.CompletedProcess[bytes]
Call = Callable[[Sequence[str], bytes, Mapping[str, str], Path], Done]
"""Calls the command with these words, this stdin and environment, in this folder."""

VOLATILE = (
    (re.compile(r'("duration_ms": ?)[0-9.]+'), r"\g<1>0"),
    (re.compile(r", [0-9]+ ms$", re.M), ", 0 ms"),
    (re.compile(r"session-[0-9a-f]{16}"), "session-0"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?"), "{time}"),
    (re.compile(r'(timestamp\\?": ?)[0-9]{13}'), r"\g<1>0"),
)
"""What differs from run to run. `normalised` also replaces paths."""


def normalised(text: str, root: str) -> str:
    """The text without this run's durations, times, generated sessions and paths. Nothing else may differ."""
    for path, name in ((root, "{root}"), (sys.executable, "{python}"), (str(Path(sys.executable).parent), "{bin}")):
        text = text.replace(path, name)
    for pattern, instead in VOLATILE:
        text = pattern.sub(instead, text)
    return text


def filled(text: str, root: str, case: Case) -> str:
    for room in ROOMS:
        text = text.replace(f"{{{room}}}", f"{root}/{room}")
    return text.replace("{python}", sys.executable).replace("{session}", f"s-{case['id']}")


def load() -> tuple[Inputs, list[Case]]:
    with CASES.open(encoding="utf-8") as lines:
        cases = {case["id"]: case for case in map(json.loads, lines)}
    for case in cases.values():
        if isinstance(case.get("seen"), str):
            case["seen"] = cases[case["seen"]]["seen"]
    return json.loads(INPUTS.read_text(encoding="utf-8")), list(cases.values())


def save(inputs: Inputs, cases: Sequence[Case]) -> None:
    """Write both files. A case whose hooks read the same as in an earlier case refers to that case."""
    INPUTS.write_text(json.dumps(inputs, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    first: dict[str, str] = {}
    with CASES.open("w", encoding="utf-8") as file:
        for case in cases:
            known = first.setdefault(_exact(case["seen"]), case["id"]) if "seen" in case else case["id"]
            file.write(_exact(case if known == case["id"] else {**case, "seen": known}) + "\n")


def answer_of(case: Case) -> Answer:
    return {name: case[name] for name in ANSWER if name in case}


def lay_out(root: str, scene: dict[str, Any], case: Case) -> None:
    """Write the scene's folders. A string is a text; an object has `text` and `mode`, or `link`, or `dir`."""
    for room in ROOMS:
        base = Path(root, room)
        base.mkdir(exist_ok=True)
        write(base, scene.get(room) or {}, root, case)


def write(base: Path, entries: dict[str, Any], root: str, case: Case) -> None:
    modes = []
    for name, found in entries.items():
        entry = {"text": found} if isinstance(found, str) else found
        path = base / filled(name, root, case)
        path.parent.mkdir(parents=True, exist_ok=True)
        if "link" in entry:
            path.symlink_to(filled(entry["link"], root, case))
        elif "text" in entry:
            path.write_bytes(filled(entry["text"], root, case).encode("utf-8", "surrogatepass"))
        else:
            path.mkdir(exist_ok=True)
        if "mode" in entry:
            modes.append((path, int(entry["mode"], 8)))
    for path, mode in sorted(modes, key=lambda item: len(item[0].parts), reverse=True):
        path.chmod(mode)


def environment(root: str, scene: dict[str, Any], case: Case) -> dict[str, str]:
    env = {"PATH": f"{Path(sys.executable).parent}:{SYSTEM_PATH}", "HOME": f"{root}/home", "LANG": "C.UTF-8"}
    for name, value in {**scene.get("env", {}), **case.get("env", {})}.items():
        env.pop(name, None)
        if value is not None:
            env[name] = filled(value, root, case)
    return env


def started(*command: str) -> Call:
    """Start a new process of this command for each call."""

    def call(
        words: Sequence[str], stdin: bytes, env: Mapping[str, str], cwd: Path
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [*command, *words], input=stdin, capture_output=True, check=False, cwd=cwd, env=env, timeout=CALL_LIMIT_S
        )

    return call


def run_case(root: str, inputs: Inputs, case: Case, call: Call) -> Answer:
    """Make one call in a scene that is already on disk; returns its answer in comparable form."""
    scene = inputs["scenes"][case["scene"]]
    env = environment(root, scene, case)
    home = Path(root, "home")
    for old in [*home.glob("behave.*"), *home.glob("seen.*")]:
        old.unlink()
    for dialect, name in case.get("behave", {}).items():
        (home / f"behave.{dialect}").write_text(filled(inputs["answers"][name], root, case), encoding="utf-8")
    for step in case.get("before", ()):
        prepare(step, root, env, case, call)
    stdin = case.get("stdin", "")
    stdin = inputs["stdin"][stdin[1:]] if stdin.startswith("@") else stdin
    words = [filled(word, root, case) for word in case["argv"]]
    ended = call(words, filled(stdin, root, case).encode("utf-8", "surrogatepass"), env, Path(root, "project"))
    out = normalised(ended.stdout.decode("utf-8", "backslashreplace"), root)
    answer: Answer = {"exit": ended.returncode, **packed(out)}
    if ended.stderr:
        answer["err"] = normalised(ended.stderr.decode("utf-8", "backslashreplace"), root)
    seen = {
        path.name.removeprefix("seen."): normalised(path.read_bytes().decode("utf-8", "backslashreplace"), root)
        for path in sorted(home.glob("seen.*"))
    }
    return {**answer, "seen": seen} if seen else answer


def prepare(step: dict[str, Any], root: str, env: dict[str, str], case: Case, call: Call) -> None:
    """Do what comes before a call: write files, run a shell line, or call a verb whose answer is not recorded."""
    if "write" in step:
        write(Path(root), step["write"], root, case)
        return
    starts, words = (call, step["run"]) if "run" in step else (started("/bin/sh", "-c"), [step["sh"]])
    starts([filled(word, root, case) for word in words], b"", env, Path(root, step.get("in", "project")))


def packed(out: str) -> Answer:
    """Stdout as it is, or as JSON if that restores the same bytes: it is shorter and easier to read in a diff."""
    try:
        value = json.loads(out)
    except ValueError:
        return {"out": out} if out else {}
    for form, (indent, ascii_only) in FORMS.items():
        if json.dumps(value, ensure_ascii=ascii_only, indent=indent) + "\n" == out:
            short = shortened(value)
            return {"out": value, "form": form} if short is None else {"out": short, "form": f"{form}, short"}
    return {"out": out}


def shortened(value: Any) -> Any:
    """A decision without its default fields; None if it is not a decision, or cannot be restored exactly."""
    if not isinstance(value, dict) or list(value) != list(BLANK):
        return None
    short = {
        name: found for name, found in value.items() if found != BLANK[name] or type(found) is not type(BLANK[name])
    }
    short["hooks"] = [
        {name: found for name, found in record.items() if name not in BLANK_RECORD or found != BLANK_RECORD[name]}
        for record in value["hooks"]
    ]
    whole = {**BLANK, **short, "hooks": [{name: record.get(name, BLANK_RECORD.get(name)) for name in RECORD}
                                         for record in short["hooks"]]}  # fmt: skip
    return short if _exact(whole) == _exact(value) else None


def reduced(inputs: Inputs, case: Case, answer: Answer) -> Answer:
    """The answer without our own words: what is recorded, and what is compared.

    Verdicts, effects, codes, statuses and what hooks read stay. A text stays where a hook or the caller said it, since
    passing it on is behaviour. Any other text becomes `…`: that there is one counts, its wording does not.
    """
    said = _said(inputs, case, answer)
    less = dict(answer)
    if "out" in less:
        less["out"] = _without_words(less["out"], said)
    if "err" in less:
        less["err"] = _only_said(less["err"], said)
    return less


def _said(inputs: Inputs, case: Case, answer: Answer) -> str:
    """All that the hooks and the caller of a case can have said: their answers, files and words, and what was heard."""
    scene = inputs["scenes"][case["scene"]]
    stdin = case.get("stdin", "")
    texts = [inputs["answers"][name] for name in case.get("behave", {}).values()]
    texts += [entry if isinstance(entry, str) else entry.get("text", "")
              for room in ROOMS for entry in (scene.get(room) or {}).values()]  # fmt: skip
    texts += [inputs["stdin"][stdin[1:]] if stdin.startswith("@") else stdin, *case["argv"]]
    out = answer.get("out")
    if isinstance(out, dict) and isinstance(out.get("hooks"), list):
        texts += [record.get("stdout", "") for record in out["hooks"]]
    for room in ROOMS:
        texts = [text.replace(f"{{{room}}}", f"{{root}}/{room}") for text in texts]
    return "\n".join([*texts, *map(_unescaped, texts)])


def _without_words(value: Any, said: str, key: str = "") -> Any:
    if isinstance(value, str):
        return value if key in VERBATIM else _only_said(value, said)
    if isinstance(value, list):
        return [_without_words(item, said, key) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: _without_words(found, said, name)
        for name, found in value.items()
        if not (key in OUR_WORDS and name in OUR_WORDS[key])
    }


def _only_said(text: str, said: str) -> str:
    """What others said in the text, also after our own words and a `:`; codes of problems; and `…` for the rest."""
    if not re.search(r"\s", text.strip()) or text in said:
        return text
    ours, kept = False, list[str]()
    for line in filter(None, map(str.strip, text.split("\n"))):
        # A dialect may put what a hook said into brackets: `[Hook blocked stop: …]`.
        texts = [line, line[1:-1]] if line[0] + line[-1] == "[]" else [line]
        rests = (text.split(": ", count)[-1] for text in texts for count in range(text.count(": ") + 1))
        found = next((rest for rest in rests if rest in said or _is_object(rest) or CODE.fullmatch(rest)), None)
        code = CODE.search(line) if found is None else None
        ours = ours or found != line
        kept += [found] if found else [code[0]] if code else []
    return "\n".join(["…"] * ours + kept)


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _unescaped(text: str) -> str:
    """The text as `printf` or JSON means it, for the few escapes that the inputs use."""
    text = text.replace("\\n", "\n").replace('\\"', '"')
    return re.sub(r"(?:\\[0-3][0-7]{2})+", lambda found: bytes(
        int(octal, 8) for octal in found[0].split("\\")[1:]).decode("utf-8", "replace"), text)  # fmt: skip


def answers(inputs: Inputs, cases: Sequence[Case], workers: int = 0, call: Call | None = None) -> list[Answer]:
    """What the calls answer now, as it is recorded."""
    found = run_cases(inputs, cases, workers, call)
    return [reduced(inputs, case, answer) for case, answer in zip(cases, found, strict=True)]


def run_cases(inputs: Inputs, cases: Sequence[Case], workers: int = 0, call: Call | None = None) -> list[Answer]:
    """The whole answers in the order of the cases. Cases of one scene share its folders, unless they depend on earlier
    calls."""
    call = call or started(*COMMAND)
    with ThreadPoolExecutor(max_workers=workers or (os.cpu_count() or 1) + 1) as pool:
        found = pool.map(lambda chunk: list(_run_chunk(inputs, chunk, call)), _chunks(cases))
        by_id = {case_id: answer for answers in found for case_id, answer in answers}
    return [by_id[case["id"]] for case in cases]


def _chunks(cases: Sequence[Case], size: int = 20) -> list[list[Case]]:
    shared: dict[str, list[Case]] = {}
    chunks = []
    for case in cases:
        if case.get("fresh") or case.get("before"):
            chunks.append([case])
        else:
            shared.setdefault(case["scene"], []).append(case)
    for group in shared.values():
        chunks.extend(group[start : start + size] for start in range(0, len(group), size))
    return chunks


def _run_chunk(inputs: Inputs, chunk: Sequence[Case], call: Call) -> Iterator[tuple[str, Answer]]:
    root = os.path.realpath(tempfile.mkdtemp(prefix="anyhook-corpus-", dir="/tmp"))  # answers contain column numbers
    try:
        lay_out(root, inputs["scenes"][chunk[0]["scene"]], chunk[0])
        for case in chunk:
            yield case["id"], run_case(root, inputs, case, call)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def differences(case: Case, answer: Answer) -> list[str]:
    """A text for every recorded field that differs; empty if the answer is the same."""
    return [
        f"{case['id']}: {name}: was {_shown(case.get(name))}, is {_shown(answer.get(name))}"
        for name in ANSWER
        if name in case or name in answer
        if _exact(case.get(name)) != _exact(answer.get(name))
    ]


def _exact(value: object) -> str:
    """JSON text, so that the order of keys and the types of numbers count."""
    return json.dumps(value, ensure_ascii=False)


def _shown(value: object, limit: int = 2000) -> str:
    text = _exact(value)
    return text if len(text) <= limit else text[:limit] + "…"


def about(case: Case, words: Sequence[str]) -> bool:
    """Whether the case has one of the words in its id or in the name of what it reads; True without words."""
    return not words or any(word in f"{case['id']} {case.get('stdin', '')}" for word in words)


def sample(cases: Sequence[Case], per_stratum: int = 5) -> list[Case]:
    """Some cases of every dialect and every host, spread evenly, and one of every problem's code."""
    strata: dict[str, list[Case]] = {}
    for case in cases:
        for name in (f"dialect {name}" for name in case["dialects"]):
            strata.setdefault(name, []).append(case)
        if "host" in case:
            strata.setdefault(f"host {case['host']}", []).append(case)
        strata.setdefault(f"verb {case['argv'][0]}", []).append(case)
    chosen = {
        group[number * len(group) // per_stratum]["id"] for group in strata.values() for number in range(per_stratum)
    }
    codes: dict[str, str] = {}
    for case in cases:
        problems = case["out"].get("problems", ()) if isinstance(case.get("out"), dict) else ()
        for problem in problems:
            codes.setdefault(problem["code"], case["id"])
    return [case for case in cases if case["id"] in chosen.union(codes.values())]
