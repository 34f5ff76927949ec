"""The guards, on: what one call of an agent costs, with the server and without. T is `/bin/true`, P `python -c pass`.
Rows are ratios within one run, first quartile of interleaved calls; CPU is that of the launcher, the server and its
workers together. No test asserts any of it."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from anyhook.rules.calls import facts_of
from bench.peers import end_peers, peers_in
from bench.promises import Place, Row, high, quartile, ratio

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.model.json_types import Json

LAUNCHER = Path(sys.executable).with_name("anyhook")
HOOK = "read -r event; echo '{}'"
FUNCTIONS = "".join(f"def f{number}(x):\n    return x + {number}\n" for number in range(100))
LINES = {
    "ls": "ls",
    "a test run": "npm test",
    "a test run in a subfolder, through a pipe": "cd src && python -m pytest -q tests/test_a.py 2>&1 | tail -5",
    "a refusal": "git push --force",
    "a refusal of `rm -rf ~`": "rm -rf ~",
    "a script of 200 lines in a here-document": f"cat > run.py <<'END'\n{FUNCTIONS}END\npython3 run.py",
}
WITH_AIM = ("ls", "a test run", "a refusal")
"""Those whose CPU time has an aim."""
REMEMBERING, MEMORY_LINES = ("flow", "loops", "budget"), ("ls", "npm test")
PROJECTS, AT_ONCE, BURSTS, CPU_CALLS, PEER_ROUNDS = 10, 64, 9, 200, 8
NOWHERE = float("inf")
"""No bound."""
CORPORA = Path(__file__).parents[1] / "tests/guards"
AGENTS = ("grok", "cline", "copilot", "kilo", "codex", "goose")


def guards(folder: Path, rounds: int) -> list[Row]:
    """Empty if the launcher is not installed."""
    if not LAUNCHER.with_name("anyhook-python").exists():
        return []
    place, before = Place(folder), os.getcwd()
    runtime = tempfile.mkdtemp(prefix="ah-")
    cold = {**place.env, "ANYHOOK_WARM": "off"}
    warm = {**place.env, "ANYHOOK_WARM": "auto", "XDG_RUNTIME_DIR": runtime}
    os.makedirs(place.project, exist_ok=True)
    subprocess.run([LAUNCHER, "add", "guard", "--yes"], env=cold, cwd=place.project, check=True, capture_output=True)
    try:
        _call(_bridge(), {**warm, "ANYHOOK_WARM": "on"}, place.project, _shell("ls", place, 0))
        return [
            *_single(place, cold, warm, max(20, rounds // 8)),
            *_cpu(place, warm),
            *_memory(place, warm),
            *_at_once(place, warm),
            *_resident(place, warm),
            *_peers(place, warm),
            *_facts(folder / "facts"),
        ]
    finally:
        subprocess.run([LAUNCHER, "warm", "--stop"], env=warm, check=False, capture_output=True)
        shutil.rmtree(runtime)
        os.chdir(before)


def _bridge(native: str = "PreToolUse") -> list[str]:
    return [str(LAUNCHER), "bridge", "claude", native]


def _shell(line: str, place: Place, number: int) -> bytes:
    return _payload("Bash", {"command": line}, str(place.project), number)


def _payload(tool: str, given: dict[str, str], cwd: str, number: int) -> bytes:
    sent = {"session_id": "s", "cwd": cwd, "tool_name": tool, "tool_input": given, "tool_use_id": f"t{number}"}
    return json.dumps(sent).encode()


def _begin(argv: list[str], env: Mapping[str, str], cwd: Path, payload: bytes) -> int:
    os.chdir(cwd)
    with tempfile.TemporaryFile() as stdin:
        stdin.write(payload)
        stdin.seek(0)
        silence = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
        return os.posix_spawn(argv[0], argv, env, file_actions=[(os.POSIX_SPAWN_DUP2, stdin.fileno(), 0), *silence])


def _call(argv: list[str], env: Mapping[str, str], cwd: Path, payload: bytes) -> tuple[float, float]:
    """The wall-clock time and the caller's CPU time of one call."""
    before = time.perf_counter()
    _, _, usage = os.wait4(_begin(argv, env, cwd, payload), 0)
    return time.perf_counter() - before, usage.ru_utime + usage.ru_stime


def _single(place: Place, cold: Mapping[str, str], warm: Mapping[str, str], rounds: int) -> list[Row]:
    big = "".join(f"line {number}\n" for number in range(2000))
    place.write("big.py", big)
    edit = {"file_path": f"{place.home}/big.py", "old_string": "line 1000\n", "new_string": "line 1,000\n"}
    whole = {"file_path": f"{place.project}/big.py", "content": big}
    inputs = {**{name: ("Bash", {"command": line}) for name, line in LINES.items()}}
    inputs |= {"an edit of a file of 2,000 lines": ("Edit", edit), "2,000 lines written": ("Write", whole)}
    cases: dict[str, tuple[list[str], Mapping[str, str], str, dict[str, str]]] = {
        "T": (["/bin/true"], cold, "", {}),
        "P": ([sys.executable, "-c", "pass"], cold, "", {}),
        "after a call, nothing hooked": (_bridge("PostToolUse"), warm, "Bash", {"command": "make"}),
        **{f"cold: {name}": (_bridge(), cold, "Bash", {"command": LINES[name]}) for name in WITH_AIM},
        **{name: (_bridge(), warm, tool, given) for name, (tool, given) in inputs.items()},
    }
    for agent in AGENTS:
        cases[f"{agent}: ls"] = ([str(LAUNCHER), "bridge", agent, _pre_tool(agent)], warm, "Bash", {"command": "ls"})
    taken: dict[str, list[float]] = {name: [] for name in cases}
    number = 0
    for turn in range(rounds + 3):
        for name in random.sample(list(cases), len(cases)):
            argv, env, tool, given = cases[name]
            number += 1
            took, cpu = _call(argv, env, place.project, _payload(tool, given, str(place.project), number))
            if turn > 2:  # the first calls store a plan
                taken[name].append(cpu if name == "P" or name.startswith("cold") else took)
            time.sleep(0.01)
    ordered = {name: sorted(times) for name, times in taken.items()}
    rows = []
    for name, times in ordered.items():
        if name.startswith("cold"):
            rows.append(ratio(f"guards on, {name}", "P, CPU", times, ordered["P"], 2.5))
        elif name not in ("T", "P"):
            bound = 2.0 if name.startswith("after") else 8.0 if "lines" in name else 4.0
            rows.append(ratio(f"guards on, {name}", "T", times, ordered["T"], bound))
    return [*rows, *_with_hook(place, warm, rounds)]


def _pre_tool(agent: str) -> str:
    from anyhook.tables.registry import host

    return next(row.native for row in host(agent).events if "pre_tool" in row.canonical)


def _with_hook(place: Place, warm: Mapping[str, str], rounds: int) -> list[Row]:
    """The same with one shell hook, above the hook alone."""
    settings = place.home / "Documents/Kodik/Hooks/hooks.json"
    hooks = {"PreToolUse": [{"hooks": [{"type": "command", "command": HOOK}]}]}
    place.write(str(settings.relative_to(place.home)), json.dumps({"hooks": hooks}))
    cases = {"T": ["/bin/true"], "H": ["/bin/bash", "-c", HOOK], "both": _bridge()}
    taken: dict[str, list[float]] = {name: [] for name in cases}
    for turn in range(rounds + 3):
        for name, argv in cases.items():
            spent, _ = _call(argv, warm, place.project, _shell("ls", place, 500_000 + turn))
            if turn > 2:
                taken[name].append(spent)
            time.sleep(0.05)
    settings.unlink()
    ordered = {name: sorted(times) for name, times in taken.items()}
    above = [spent - quartile(ordered["H"]) for spent in ordered["both"]]
    return [ratio("guards on and one shell hook, above H", "T", above, ordered["T"], 6.0)]


def _cpu_s(server: int) -> float:
    """The CPU time of the server, its living workers, and those that it has reaped."""
    total = 0
    for pid in (str(server), *Path(f"/proc/{server}/task/{server}/children").read_text().split()):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15]))
    return total / os.sysconf("SC_CLK_TCK")


def _server(env: Mapping[str, str]) -> int:
    done = subprocess.run([LAUNCHER, "warm", "--json"], env=env, check=True, capture_output=True)
    return int(json.loads(done.stdout)["pid"])


def _cpu(place: Place, warm: Mapping[str, str]) -> list[Row]:
    rows = []
    for name, line in LINES.items():
        spent, bound = _mean_cpu_ms(place, warm, line, 600_000), 4.0 if name in WITH_AIM else NOWHERE
        rows.append(Row(f"guards on, {name}: CPU", "absolute, mean", spent, spent, bound, "ms"))
    return rows


def _mean_cpu_ms(place: Place, warm: Mapping[str, str], line: str, first: int) -> float:
    """Of one call, the server's part included."""
    server, callers = _server(warm), 0.0
    before = _cpu_s(server)
    for number in range(CPU_CALLS):
        callers += _call(_bridge(), warm, place.project, _shell(line, place, first + number))[1]
    return (_cpu_s(server) - before + callers) / CPU_CALLS * 1000


def _memory(place: Place, warm: Mapping[str, str]) -> list[Row]:
    """What rules that remember add to a call, in a session of several hundred calls."""
    base = sum(_call(["/bin/true"], warm, place.project, b"")[1] for _ in range(CPU_CALLS)) / CPU_CALLS * 1000
    without = [_mean_cpu_ms(place, warm, line, 700_000) for line in MEMORY_LINES]
    for pack in REMEMBERING:
        subprocess.run([LAUNCHER, "add", pack, "--yes"], env=warm, cwd=place.project, check=True, capture_output=True)
    try:
        for line in MEMORY_LINES:
            _mean_cpu_ms(place, warm, line, 800_000)
        spent = [_mean_cpu_ms(place, warm, line, 900_000) for line in MEMORY_LINES]
    finally:
        for pack in REMEMBERING:
            subprocess.run([LAUNCHER, "remove", pack], env=warm, cwd=place.project, check=True, capture_output=True)
    added = [(after - before) / base for after, before in zip(spent, without, strict=True)]
    return [
        Row(f"rules that remember, above the guards, {line}", "T, CPU", each, each, 1.0)
        for line, each in zip(MEMORY_LINES, added, strict=True)
    ]


def _at_once(place: Place, warm: Mapping[str, str]) -> list[Row]:
    """The slowest of many calls that begin together, against as many times the single one; of several such bursts."""
    slowest, number = list[float](), 700_000
    for _ in range(BURSTS):
        payloads = [_shell("ls", place, number := number + 1) for _ in range(2 * AT_ONCE)]
        alone = sorted(_call(_bridge(), warm, place.project, payload)[0] for payload in payloads[:AT_ONCE])
        begun = time.perf_counter()
        running = [_begin(_bridge(), warm, place.project, payload) for payload in payloads[AT_ONCE:]]
        for pid in running:
            os.waitpid(pid, 0)
        slowest.append((time.perf_counter() - begun) / (AT_ONCE * quartile(alone)))
        time.sleep(0.5)
    slowest.sort()
    base = f"{AT_ONCE} × one"
    return [Row(f"guards on, {AT_ONCE} calls at once, slowest", base, quartile(slowest), high(slowest), 1.5)]


def _resident(place: Place, warm: Mapping[str, str]) -> list[Row]:
    """The memory of the server and its workers together, with one project and with ten: what they share counts once."""
    found = []
    for count in (1, PROJECTS):
        for number in range(count):
            project = place.home / f"projects/{number}"
            project.mkdir(parents=True, exist_ok=True)
            for turn in range(4):
                sent = _payload("Bash", {"command": "ls"}, str(project), 800_000 + 10 * number + turn)
                _call(_bridge(), warm, project, sent)
                time.sleep(0.1)
        server = _server(warm)
        workers = Path(f"/proc/{server}/task/{server}/children").read_text().split()
        found.append(sum(map(_pss_mb, (str(server), *workers))))
    names = ("one project", f"{PROJECTS} projects")
    return [
        Row(f"server and workers with the guards, {name}", "absolute, Pss", size, size, bound, "MB")
        for name, size, bound in zip(names, found, (60.0, 80.0), strict=True)
    ]


def _pss_mb(pid: str) -> float:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:  # it has just ended
        return 0.0
    return int(text.partition("\nPss:")[2].split()[0]) / 1024


def _peers(place: Place, warm: Mapping[str, str]) -> list[Row]:
    """Other guards for the same calls, in a separate home, if they are on the PATH: how long a call takes, and the
    CPU time of its caller."""
    peers = peers_in(place.home.parent / "peers")
    if not peers:
        return []
    ways = {"anyhook": (_bridge(), warm), **peers}
    taken: dict[tuple[str, str], list[tuple[float, float]]] = {}
    number = 900_000
    try:
        for turn in range(PEER_ROUNDS + 2):
            for name, (argv, env) in ways.items():
                for line in WITH_AIM:
                    sent = _shell(LINES[line], place, number := number + 1)
                    spent = _call(argv, env, place.project, sent)
                    if turn > 1:
                        taken.setdefault((name, line), []).append(spent)
    finally:
        end_peers(place.home.parent / "peers")
    rows = []
    for (name, line), times in taken.items():
        took = sorted(1000 * time for time, _ in times)
        spent_ms = 1000 * sum(cpu for _, cpu in times) / len(times)
        rows.append(
            Row(f"{name}, {line}", f"its caller's CPU: {spent_ms:.1f} ms", quartile(took), high(took), NOWHERE, "ms")
        )
    return rows


SHELL = """set -e
cd "$(dirname "$0")"
for each in a b c; do
    mkdir -p build/$each && cp src/$each build/$each/
done
"""
PYTHON = """import json, os, sys
with open(sys.argv[1]) as file:
    for name, value in json.load(file).items():
        print(os.path.join(name, value))
"""
NODE = "const fs = require('fs')\nfor (const name of fs.readdirSync('.')) console.log(name)\n"
SCRIPTS = {"sh": SHELL, "py": PYTHON, "js": NODE}
"""What a script contains that a call runs, 20 times over."""
NAMED = re.compile(r"(?<![\w/.~$-])(?:\./)?[\w-]+(?:/[\w-]+)*\.(sh|py|js)\b")


def _facts(folder: Path) -> list[Row]:
    """The facts of each call of the corpora that the guards are measured with, in CPU time of a process that has read
    them before. The scripts that a call names are there, and are read."""
    sys.path.insert(0, str(CORPORA))
    from guard_corpus import KINDS, WORK_SETS, commands, work_calls

    calls: list[tuple[str, dict[str, Json]]] = []
    calls += [("Bash", {"command": each.text}) for kind in KINDS for each in commands(kind)]
    calls += [(tool, given) for name in WORK_SETS for _, tool, given in work_calls(name)]
    _write_scripts(folder, calls)
    taken = list[float]()
    for tool, given in calls * 2:
        before = time.thread_time()
        facts_of(tool, given, cwd=str(folder), home="/home/dev", project=str(folder))
        taken.append((time.thread_time() - before) * 1000)
    ordered = sorted(taken[len(calls) :])
    often = ordered[len(ordered) * 99 // 100]
    slowest = max(taken)
    return [
        Row(f"facts of {len(calls):,} calls, 99 of 100", "absolute, CPU", often, often, 5.0, "ms"),
        Row(f"facts, the slowest of {len(taken):,}", "absolute, CPU", slowest, slowest, 100.0, "ms"),
    ]


def _write_scripts(folder: Path, calls: list[tuple[str, dict[str, Json]]]) -> None:
    scripts = {name: f"echo {name} && node src/{name}.js" for name in ("test", "build", "lint", "start", "dev")}
    texts = {
        "package.json": json.dumps({"scripts": scripts}),
        "Makefile": "all test build lint:\n\tpython3 run.py $@\n",
    }
    for _, given in calls:
        for found in NAMED.finditer(str(given.get("command", ""))):
            texts[found[0]] = SCRIPTS[found[1]] * 20
    for name, text in texts.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        except OSError:  # the name of a folder, or too long
            continue
