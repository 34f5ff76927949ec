"""The promises: each is measured together with its base in one interleaved run. No test asserts any of it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pluggy
import yaml

from anyhook import Engine, Event
from anyhook.documents.parse import split_front_matter
from anyhook.journal.record import call_text, head_of, record
from anyhook.model.call import Call
from anyhook.model.firing import HookRun
from anyhook.platform.run import run
from anyhook.rules.calls import facts_of_event
from bench.floor import build, floor
from bench.spawn import KB, MB, measure

if TYPE_CHECKING:
    from collections.abc import Callable


class Row(NamedTuple):
    """One promise and its measured value."""

    promise: str
    base: str
    value: float
    p95: float
    at_most: float
    unit: str = "×"

    @property
    def kept(self) -> bool:
        return self.value <= self.at_most


def quartile(times: list[float]) -> float:
    return times[len(times) // 4]


def high(times: list[float]) -> float:
    return times[int(len(times) * 0.95)]


def ratio(promise: str, base_name: str, times: list[float], base: list[float], at_most: float) -> Row:
    return Row(promise, base_name, quartile(times) / quartile(base), high(times) / high(base), at_most)


class Place:
    """A separate home and project, and an engine on them."""

    def __init__(self, folder: Path, **files: str) -> None:
        self.home, self.project = folder / "home", folder / "project"
        self.project.mkdir(parents=True)
        for name, text in files.items():
            self.write(name, text)
        self.env = {"HOME": str(self.home), "PATH": os.environ["PATH"], "ANYHOOK_WARM": "off"}

    def write(self, name: str, text: str, mode: int = 0o644) -> None:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)

    def engine(self) -> Engine:
        return Engine.open(str(self.project), env=self.env)


def hook_folder(place: Place, name: str, trigger: str, program: bytes) -> None:
    """An agenthooks folder with its own program."""
    front = f"---\nname: {name}\ndescription: {name}\ntrigger: {trigger}\n---\n"
    place.write(f".config/agents/hooks/{name}/HOOK.md", front)
    place.write(f".config/agents/hooks/{name}/scripts/run", "", 0o755)
    (place.home / f".config/agents/hooks/{name}/scripts/run").write_bytes(program)


async def one_command_hook(folder: Path, rounds: int) -> list[Row]:
    """The whole walk, including the journal, in a running event loop."""
    program, how = build()
    if how == "dynamic":
        print("floor.c is linked dynamically: ratios to F are too kind")
    place = Place(folder)
    hook_folder(place, "floor", "before_tool", Path(program).read_bytes())
    hook_folder(place, "plain", "session_start", b"#!/bin/sh\necho {}\n")
    hook_folder(place, "leaves", "before_agent", b"#!/bin/sh\nsleep 5 & echo {}\n")
    engine = place.engine()
    small = Event.pre_tool("Shell", {"command": "x" * 900})
    large = Event.pre_tool("Shell", {"command": "x" * len(MB)})
    plain, leaves = Event.session_start(), Event.of("turn_start", prompt="hi")
    decision = await engine.fire(small)
    if decision.hooks[0].status != "ran" or decision.problems:
        raise SystemExit(f"bench: the hook did not run as it should: {decision}")
    times = {name: [] for name in ("F", "fire", "fire 1 MB", "plain", "leaves")}  # type: dict[str, list[float]]
    for number in range(rounds):
        before = time.perf_counter()
        floor(program, KB, place.env)
        times["F"].append(time.perf_counter() - before)
        for name, event, every in (
            ("fire", small, 1),
            ("fire 1 MB", large, 3),
            ("plain", plain, 5),
            ("leaves", leaves, 5),
        ):
            if number % every == 0:
                before = time.perf_counter()
                await engine.fire(event)
                times[name].append(time.perf_counter() - before)
    await engine.close()
    ordered = {name: sorted(taken) for name, taken in times.items()}
    return [
        ratio("Engine.fire, one command hook", "F", ordered["fire"], ordered["F"], 1.25),
        ratio("the same with 1 MB of stdin", "itself with 1 KB", ordered["fire 1 MB"], ordered["fire"], 4.0),
        ratio("hook leaves a child that holds stdout", "the same without", ordered["leaves"], ordered["plain"], 2.0),
    ]


async def journal_line(folder: Path, rounds: int) -> list[Row]:
    """What one record costs, in all and while an agent waits: the rest is made while the hook runs. Each is measured
    right after running a process, which has emptied the CPU caches, as in an agent."""
    program, _ = build()
    place = Place(folder)
    hook_folder(place, "floor", "before_tool", Path(program).read_bytes())
    engine = place.engine()
    event = Event.pre_tool("Shell", {"command": "x" * 900})
    decision = await engine.fire(event)
    call = Call((program,), KB, place.env, str(place.project), 60.0, "")
    done = run(call)
    hook, policy, journal = engine.catalog.hooks[0], engine.context.recorder.policy, engine.context.recorder.journal
    if journal is None:
        raise SystemExit("bench: the journal cannot be written")

    def early() -> tuple[str, str]:
        return head_of(event, "enforce", policy), call_text(hook, call, "native", policy)

    def line(head: str, text: str) -> bytes:
        return record(head, decision, [HookRun(hook, call, "native", "", done, "", None, text)], policy)

    head, text = early()
    cases: dict[str, Callable[[], object]] = {
        "in all": lambda: journal.append([line(*early())]),
        "waited for": lambda: journal.append([line(head, text)]),
    }
    times = {name: [] for name in ("F", *cases)}  # type: dict[str, list[float]]
    for _ in range(rounds):
        for name, case in cases.items():
            before = time.perf_counter()
            floor(program, KB, place.env)
            between = time.perf_counter()
            case()
            times[name].append(time.perf_counter() - between)
            times["F"].append(between - before)
    await engine.close()
    ordered = {name: sorted(taken) for name, taken in times.items()}
    return [
        ratio("journal line, while the agent waits", "F", ordered["waited for"], ordered["F"], 0.1),
        ratio(f"all of it ({len(line(head, text))} bytes)", "F", ordered["in all"], ordered["F"], 0.1),
    ]


RULES = (
    "runs tool{n} delete --force", "runs helper{n}|other{n} from curl", "deletes data{n}/** and not runs tool{n} -n",
    "writes secret{n}/** unless mode plan", "reads ~/.keys{n}/*", "runs git push --force with branch{n}",
)  # fmt: skip
"""Typical rules, to be filled with a number."""


async def hundred_rules(folder: Path, rounds: int) -> list[Row]:
    """A call with a hundred rules, its facts, and the same call in a process."""
    program, _ = build()
    none, many = Place(folder / "none"), Place(folder / "many")
    none.write(".config/anyhook/hooks.toml", '[[rule]]\nwhen = "event stop"\n')
    rules = [f'[[rule]]\nwhen = "{RULES[n % len(RULES)].format(n=n)}"\n' for n in range(100)]
    many.write(".config/anyhook/hooks.toml", "\n".join(rules))
    event = Event.pre_tool("Bash", {"command": "npm run build && git status | head -5 > out.txt"})
    engines = {"none": none.engine(), "many": many.engine()}
    decision = await engines["many"].fire(event)
    if len(decision.hooks) != 100 or decision.problems:
        raise SystemExit(f"bench: the rules were not asked as they should: {decision}")

    def facts() -> object:
        return facts_of_event(event, cwd=str(many.project), home=str(many.home))

    times: dict[str, list[float]] = {name: [] for name in ("F", "facts", "none", "many")}
    for _ in range(rounds):
        before = time.perf_counter()
        floor(program, KB, many.env)
        times["F"].append(time.perf_counter() - before)
        before = time.perf_counter()
        facts()
        times["facts"].append(time.perf_counter() - before)
        for name, engine in engines.items():
            before = time.perf_counter()
            await engine.fire(event)
            times[name].append(time.perf_counter() - before)
    for engine in engines.values():
        await engine.close()
    ordered = {name: sorted(taken) for name, taken in times.items()}
    asked = [max(0.0, many_s - facts_s) for many_s, facts_s in zip(ordered["many"], ordered["facts"], strict=True)]
    return [
        ratio("facts of a line", "F", ordered["facts"], ordered["F"], 1.0),
        ratio("a hundred rules, without the facts", "F", asked, ordered["F"], 0.5),
        ratio("the same with the facts", "F", ordered["many"], ordered["F"], 0.5),
    ]


async def no_hook_matches(folder: Path, rounds: int) -> list[Row]:
    """Microseconds for one event that reaches no hook, with 1 and with 10,000 hooks in the catalog."""
    engines = {}
    for size in (1, 10_000):
        entries = [{"matcher": f"Tool{n}", "hooks": [{"type": "command", "command": "true"}]} for n in range(size)]
        place = Place(folder / str(size))
        place.write("Documents/Kodik/Hooks/hooks.json", json.dumps({"hooks": {"PreToolUse": entries}}))
        engines[size] = place.engine()
    event = Event.pre_tool("Nobody", {})
    batch = 1000

    def plain() -> None:
        return None

    taken: dict[str, list[float]] = {"call": [], "1": [], "10000": []}
    for engine in engines.values():
        await engine.fire(event)
    for _ in range(max(20, rounds // 4)):
        before = time.perf_counter()
        for _ in range(batch):
            plain()
        taken["call"].append((time.perf_counter() - before) / batch)
        for size, engine in engines.items():
            before = time.perf_counter()
            for _ in range(batch):
                await engine.fire(event)
            taken[str(size)].append((time.perf_counter() - before) / batch)
    for engine in engines.values():
        await engine.close()
    ordered = {name: sorted(times) for name, times in taken.items()}
    one, many = ordered["1"], ordered["10000"]
    return [
        Row("Engine.fire, no hook matches", "absolute", quartile(one) * 1e6, high(one) * 1e6, 1.0, "µs"),
        ratio("the same", "a plain function call", one, ordered["call"], float("inf")),
        ratio("the same with 10,000 hooks", "itself with 1", many, one, 1.5),
    ]


async def ten_callables(folder: Path, rounds: int) -> list[Row]:
    """Ten in-process hooks against pluggy with ten implementations."""
    engine = Place(folder).engine()
    spec, implementation = pluggy.HookspecMarker("bench"), pluggy.HookimplMarker("bench")

    class Spec:
        @spec
        def hook(self, event: Event) -> None: ...

    class Plugin:
        @implementation
        def hook(self, event: Event) -> None:
            return None

    manager = pluggy.PluginManager("bench")
    manager.add_hookspecs(Spec)
    for number in range(10):
        manager.register(Plugin())
        engine.on("pre_tool", lambda _event: None, name=f"hook-{number}")
    event = Event.pre_tool("Shell", {})
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(max(20, rounds // 4)):
        before = time.perf_counter()
        for _ in range(200):
            await engine.fire(event)
        ours.append(time.perf_counter() - before)
        before = time.perf_counter()
        for _ in range(200):
            manager.hook.hook(event=event)
        theirs.append(time.perf_counter() - before)
    await engine.close()
    return [ratio("ten in-process hooks", "pluggy, ten implementations", sorted(ours), sorted(theirs), 1.0)]


def cpu_of(argv: list[str], env: dict[str, str], silence: int, expected: int = 0, stdin: str = os.devnull) -> float:
    """User and system time of a whole process, in seconds; its output goes to the descriptor `silence`."""
    given = (os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0)
    quiet = [(os.POSIX_SPAWN_DUP2, silence, stream) for stream in (1, 2)]
    pid = os.posix_spawn(argv[0], argv, env, file_actions=[given, *quiet])
    _, status, usage = os.wait4(pid, 0)
    if os.waitstatus_to_exitcode(status) != expected:
        raise SystemExit(f"bench: {argv} exited with {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime + usage.ru_stime


def commands(folder: Path, rounds: int) -> list[Row]:
    """CPU time of whole processes: user and system, from wait4."""
    program, _ = build()
    place = Place(folder)
    hook_folder(place, "floor", "before_tool", Path(program).read_bytes())
    time.sleep(0.1)  # a plan is stored only if its files are not brand new
    python = [sys.executable]
    anyhook = [str(Path(sys.executable).parent / "anyhook"), "fire"]
    given = ["--project", str(place.project), "--json"]
    cases = {
        "pass": [*python, "-c", "pass"],
        "nothing hooked": [*anyhook, "notification", "--message", "hello", *given],
        "status": [anyhook[0], "status", *given],
        "one hook": [*anyhook, "pre_tool", "--tool", "Shell", "--input", '{"command": "ls"}', *given],
    }
    silence = os.open(os.devnull, os.O_WRONLY)

    for argv in cases.values():
        cpu_of(argv, place.env, silence)
    taken: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(max(15, rounds // 10)):
        for name, argv in cases.items():
            taken[name].append(cpu_of(argv, place.env, silence))
    os.close(silence)
    ordered = {name: sorted(times) for name, times in taken.items()}
    base = "python -c pass, CPU"
    return [
        ratio("anyhook fire, nothing hooked", base, ordered["nothing hooked"], ordered["pass"], 1.5),
        ratio("anyhook fire, one command hook", base, ordered["one hook"], ordered["pass"], 4.0),
        ratio("anyhook status, warm", base, ordered["status"], ordered["pass"], 2.0),
    ]


def thousand_hooks(folder: Path, rounds: int) -> list[Row]:
    """Opening a catalog of 1,000 hooks, 200 of each dialect, without and with its plan, against parsing alone."""
    place = Place(folder)
    groups = [{"matcher": f"Tool{n}", "hooks": [{"type": "command", "command": f"check {n}"}]} for n in range(200)]
    entries = "".join(f"    - exec: check {n}\n      timeout_ms: 3000\n" for n in range(200))
    place.write(".config/kode/config.yaml", f"hooks:\n  tool_call_pre:\n{entries}")
    place.write("Documents/Kodik/Hooks/hooks.json", json.dumps({"hooks": {"PreToolUse": groups}}, indent=1))
    state = {"schema_version": 1, "hooks": {"PreToolUse": groups}}
    place.write(".local/state/kolega-code/hooks.json", json.dumps(state, indent=1))
    for n in range(200):
        front = f"---\nname: hook-{n}\ndescription: number {n}\ntrigger: before_tool\nmatcher:\n  tool: Tool{n}\n---\n"
        place.write(f".config/agents/hooks/hook-{n}/HOOK.md", front)
        place.write(f".config/agents/hooks/hook-{n}/scripts/run.sh", "#!/bin/sh\n", 0o755)
        place.write(f".kodelet/hooks/hook-{n}", "#!/bin/sh\necho before_tool_call\n", 0o755)
    hooks = len(place.engine().catalog.hooks)
    plans = place.home / ".local/state/anyhook/plans"

    def parse() -> None:
        yaml.load((place.home / ".config/kode/config.yaml").read_text(), yaml.CSafeLoader)
        json.loads((place.home / "Documents/Kodik/Hooks/hooks.json").read_text())
        json.loads((place.home / ".local/state/kolega-code/hooks.json").read_text())
        for n in range(200):
            front = split_front_matter((place.home / f".config/agents/hooks/hook-{n}/HOOK.md").read_text())
            yaml.load(front[0] if front else "", yaml.CSafeLoader)
            (place.home / f".kodelet/hooks/hook-{n}").read_bytes()

    def cold() -> None:
        for plan in plans.glob("*"):
            plan.unlink()
        place.engine()

    place.engine()
    times = measure({"parse": parse, "cold": cold, "warm": place.engine}, max(8, rounds // 30))
    base = "parsing with json and PyYAML alone"
    return [
        ratio(f"catalog of {hooks} hooks: open, from the files", base, times["cold"], times["parse"], 3.0),
        ratio("the same, from its plan", base, times["warm"], times["parse"], 3.0),
    ]


def all_rows(rounds: int) -> list[Row]:
    from bench import agent, trials
    from bench.bridged import bridged
    from bench.door import door
    from bench.guards import guards
    from bench.sessions import sessions

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return [
            *asyncio.run(one_command_hook(folder / "one", rounds)),
            *asyncio.run(journal_line(folder / "journal", rounds)),
            *asyncio.run(no_hook_matches(folder / "none", rounds)),
            *asyncio.run(hundred_rules(folder / "rules", rounds)),
            *asyncio.run(ten_callables(folder / "ten", rounds)),
            *commands(folder / "commands", rounds),
            *bridged(folder / "bridged", rounds),
            *guards(folder / "guards", rounds),
            *sessions(),
            *door(folder / "door", rounds),
            *thousand_hooks(folder / "thousand", rounds),
            *asyncio.run(agent.tool_calls(folder / "calls", rounds)),
            *agent.start(folder / "start", rounds),
            *trials.warm_against_cold(folder / "trials"),
        ]
