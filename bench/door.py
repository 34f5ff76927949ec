"""An agent's calls through the native launcher and the warm server, compared with the same calls cold. T is
`/bin/true`, H the hook alone. No test asserts any of it."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench.promises import Place, Row, high, quartile, ratio

if TYPE_CHECKING:
    from collections.abc import Mapping

LAUNCHER = Path(sys.executable).with_name("anyhook")
HOOK = "read -r event; echo '{}'"
AT_ONCE, HOOKS = 64, 8
SCRIPTS = {
    "json": ("import json, sys", 1 / 6),
    "requests, pydantic and yaml": (
        "import json, sys, requests, pydantic, yaml\nclass A(pydantic.BaseModel):\n    x: int\nA(x=1)",
        1 / 12,
    ),
    "twelve modules of the library": (
        "import argparse, csv, datetime, hashlib, json, logging, pathlib, re, shutil, subprocess, sys, tempfile",
        float("inf"),
    ),
    "asyncio, http, yaml and rich": (
        "import json, sys, asyncio, http.client, yaml, rich.console, rich.table",
        float("inf"),
    ),
}
"""What a Python hook imports, and the bound of a warm call. Those that are not installed are left out."""


def door(folder: Path, rounds: int) -> list[Row]:
    """Empty if the launcher is not installed."""
    if not LAUNCHER.with_name("anyhook-python").exists():
        print("the native launcher is not installed: no rows for warm calls")
        return []
    place = Place(folder)
    hooks = {"PreToolUse": [{"hooks": [{"type": "command", "command": HOOK}]}]}
    place.write("Documents/Kodik/Hooks/hooks.json", json.dumps({"hooks": hooks}))
    runtime = tempfile.mkdtemp(prefix="ah-")
    cold = {**place.env, "ANYHOOK_WARM": "off"}
    warm = {**place.env, "ANYHOOK_WARM": "auto", "XDG_RUNTIME_DIR": runtime}
    try:
        first = _first(place, cold, warm, max(5, rounds // 40))
        subprocess.run(
            [LAUNCHER, "fire", "turn_end"],
            env={**warm, "ANYHOOK_WARM": "on"},
            cwd=place.project,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        before = _resident(warm)
        rows = [*_unhooked_tool(folder / "unhooked", cold, warm, max(30, rounds // 4))]
        rows += [*_rows(place, cold, warm, max(30, rounds // 4)), *first, *_at_once(place, warm)]
        rows += [*_beside(place, warm), *_server(before, warm)]
        return [*rows, *_python(place, cold, warm, max(10, rounds // 20))]
    finally:
        subprocess.run([LAUNCHER, "warm", "--stop"], env=warm, check=True, capture_output=True)
        shutil.rmtree(runtime)


def _begin(argv: list[str], env: Mapping[str, str], place: Place, number: int) -> int:
    """Start one call with a unique payload, because an agent never repeats a call."""
    payload = {"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": f"t{number}"}
    with tempfile.TemporaryFile() as stdin:
        stdin.write(json.dumps({**payload, "cwd": str(place.project)}).encode())
        stdin.seek(0)
        actions = [(os.POSIX_SPAWN_DUP2, stdin.fileno(), 0), (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
        return os.posix_spawn(argv[0], argv, env, file_actions=actions)


def _call(argv: list[str], env: Mapping[str, str], place: Place, number: int) -> float:
    """The wall-clock time of one call."""
    before = time.perf_counter()
    _, status = os.waitpid(_begin(argv, env, place, number), 0)
    if status:
        raise SystemExit(f"bench: {argv} ended with {status}")
    return time.perf_counter() - before


def _rows(place: Place, cold: Mapping[str, str], warm: Mapping[str, str], rounds: int) -> list[Row]:
    unhooked, hooked = ([str(LAUNCHER), "bridge", "claude", name] for name in ("PostToolUse", "PreToolUse"))
    cases = {
        "T": (["/bin/true"], cold),
        "H": (["/bin/bash", "-c", HOOK], cold),
        "unhooked cold": (unhooked, cold),
        "unhooked warm": (unhooked, warm),
        "hooked cold": (hooked, cold),
        "hooked warm": (hooked, warm),
    }
    taken: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(rounds):
        for name in random.sample(list(cases), len(cases)):
            spent = _call(*cases[name], place, number * len(cases) + list(cases).index(name))
            if number > 1:  # the first calls store a plan
                taken[name].append(spent)
            time.sleep(0.02)  # an agent's model thinks between calls, and the server forks in the meantime
    t, h = sorted(taken["T"]), sorted(taken["H"])
    above = {way: sorted(time - quartile(h) for time in taken[f"hooked {way}"]) for way in ("cold", "warm")}
    return [
        ratio("bridge, nobody hooked, cold", "T", sorted(taken["unhooked cold"]), t, float("inf")),
        ratio("bridge, nobody hooked, warm", "T", sorted(taken["unhooked warm"]), t, 2.0),
        ratio("bridge, one shell hook above H, cold", "T", above["cold"], t, float("inf")),
        ratio("bridge, one shell hook above H, warm", "T", above["warm"], t, 4.0),
    ]


def _unhooked_tool(folder: Path, cold: Mapping[str, str], warm: Mapping[str, str], rounds: int) -> list[Row]:
    """A tool call of somebody who has no hooks."""
    place = Place(folder)
    cases = {
        "T": (["/bin/true"], {**cold, "HOME": place.env["HOME"]}),
        "warm": ([str(LAUNCHER), "bridge", "claude", "PreToolUse"], {**warm, "HOME": place.env["HOME"]}),
    }
    taken: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(rounds):
        for name, (argv, env) in cases.items():
            spent = _call(argv, env, place, 6_000_000 + number)
            if number > 1:
                taken[name].append(spent)
            time.sleep(0.01)
    return [ratio("bridge, a tool call, nobody hooked, warm", "T", sorted(taken["warm"]), sorted(taken["T"]), 4.0)]


def _first(place: Place, cold: Mapping[str, str], warm: Mapping[str, str], rounds: int) -> list[Row]:
    """The call that finds no server and starts one."""
    argv = [str(LAUNCHER), "bridge", "claude", "PostToolUse"]
    usual, first = list[float](), list[float]()
    for number in range(rounds + 1):
        times = [_call(argv, env, place, 1_000_000 + number) for env in (cold, warm)]
        while not _state(warm)["running"]:
            time.sleep(0.05)
        subprocess.run([LAUNCHER, "warm", "--stop"], env=warm, check=True, capture_output=True)
        if number:
            usual.append(times[0])
            first.append(times[1])
    return [ratio("first call, which starts the server", "the same, cold", sorted(first), sorted(usual), 1.2)]


def _state(env: Mapping[str, str]) -> dict[str, int]:
    done = subprocess.run([LAUNCHER, "warm", "--json"], env=env, check=True, capture_output=True)
    found: dict[str, int] = json.loads(done.stdout)
    return found


def _resident(env: Mapping[str, str]) -> float:
    status = Path(f"/proc/{_state(env)['pid']}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def _server(before: float, env: Mapping[str, str]) -> list[Row]:
    now = _resident(env)
    return [
        Row("server, resident", "absolute", now, now, 40.0, "MB"),
        Row("server, resident after all these calls", "before them", now / before, now / before, 1.05),
    ]


def _at_once(place: Place, env: Mapping[str, str]) -> list[Row]:
    argv = [str(LAUNCHER), "bridge", "claude", "PreToolUse"]
    alone = sorted(_call(argv, env, place, 2_000_000 + number) for number in range(AT_ONCE))
    begun = time.perf_counter()
    running = {_begin(argv, env, place, 3_000_000 + number) for number in range(AT_ONCE)}
    times = []
    for _ in range(AT_ONCE):
        pid, status = os.wait()
        if pid not in running or status:
            raise SystemExit(f"bench: one of {AT_ONCE} calls ended with {status}")
        times.append(time.perf_counter() - begun)
    base = f"{AT_ONCE} one after another, all"
    return [Row(f"{AT_ONCE} calls at once, p95", base, high(sorted(times)) / sum(alone), times[-1] / sum(alone), 4.0)]


def _beside(place: Place, env: Mapping[str, str]) -> list[Row]:
    """Hooks of one event run at the same time, compared with the same shells without anyhook."""
    argv = [str(LAUNCHER), "fire", "user_prompt_submit", "--prompt", "x", "--project", str(place.project)]
    lines = [f": {number}; sleep 0.05" for number in range(HOOKS)]
    ours, bare = dict[int, list[float]](), dict[int, list[float]]()
    for count in (1, HOOKS):
        hooks = [{"type": "command", "command": line} for line in lines[:count]]
        place.write(".claude/settings.json", json.dumps({"hooks": {"UserPromptSubmit": [{"hooks": hooks}]}}))
        time.sleep(0.2)  # a plan is stored only if its files are not brand new
        times = [(_call(argv, env, place, 0), _shells(lines[:count], env, place)) for _ in range(20)]
        ours[count], bare[count] = (sorted(way) for way in zip(*times[1:], strict=True))
    return [
        ratio(f"{HOOKS} shells of 50 ms, without anyhook", "one such shell", bare[HOOKS], bare[1], float("inf")),
        ratio(f"{HOOKS} hooks of 50 ms on one event", "one such hook", ours[HOOKS], ours[1], 1.25),
    ]


def _shells(lines: list[str], env: Mapping[str, str], place: Place) -> float:
    before = time.perf_counter()
    started = [_begin(["/bin/bash", "-c", line], env, place, 0) for line in lines]
    for pid in started:
        os.waitpid(pid, 0)
    return time.perf_counter() - before


def _python(place: Place, cold: Mapping[str, str], warm: Mapping[str, str], rounds: int) -> list[Row]:
    """A Python hook in an interpreter that is already running."""
    argv, rows, number = [str(LAUNCHER), "bridge", "claude", "PreToolUse"], list[Row](), 5_000_000
    for name, (imports, bound) in SCRIPTS.items():
        if subprocess.run([sys.executable, "-c", imports], capture_output=True, check=False).returncode:
            print(f"no row for a Python hook with {name}: it is not installed")
            continue
        place.write("hook.py", f"{imports}\njson.load(sys.stdin)\nprint('{{}}')\n")
        hooks = {"PreToolUse": [{"hooks": [{"type": "command", "command": f"{sys.executable} {place.home}/hook.py"}]}]}
        place.write("Documents/Kodik/Hooks/hooks.json", json.dumps({"hooks": hooks}))
        taken: dict[str, list[float]] = {"cold": [], "warm": []}
        for turn in range(rounds + 4):  # the first calls start an interpreter, which learns what to preload
            for way, env in (("cold", cold), ("warm", warm)):
                number += 1
                spent = _call(argv, env, place, number)
                time.sleep(1.0 if turn < 4 else 0.1)
                if turn >= 4:
                    taken[way].append(spent)
        ordered = {way: sorted(all_of_them) for way, all_of_them in taken.items()}
        rows.append(ratio(f"Python hook, {name}, warm", "the same, cold", ordered["warm"], ordered["cold"], bound))
    return rows
