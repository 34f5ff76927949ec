"""Backtest: what hooks would have said. Each pair runs once, and the result is the same warm or cold, on a pool or on a
cluster."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from journal_box import Box, made

from anyhook.journal.journal import Journal
from anyhook.journal.read import JournalLine
from anyhook.model.json_types import Json
from anyhook.programs.python_script import read_script
from anyhook.replay.trial import sandbox_of, works
from anyhook.tables.registry import HOSTS, host
from conftest import World
from satellite import satellite

GUARD = """
import json, sys
event = json.load(sys.stdin)
command = event["tool_input"]["command"]
if "rm" in command:
    print(f"no {command}", file=sys.stderr)
    sys.exit(2)
if command == "old":
    print(json.dumps({"modified_input": {"command": "new"}}))
if command == "crash":
    raise ValueError("broken")
"""
COMMANDS = ["ls", "rm -rf x", "old", "crash", "ls", "ls", "rm y"]


@pytest.fixture
def box(world: World, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Box:
    return Box(world, capfd, monkeypatch)


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Run trials in threads, because processes take long to start. Returns the number of trials in each batch sent."""
    sent: list[int] = []

    class Threads(ThreadPoolExecutor):
        def submit(self, task: Any, /, *words: Any, **more: Any) -> Future[Any]:
            sent.append(len(words[0]))
            return super().submit(task, *words, **more)

    @contextmanager
    def threads(_: object, jobs: int) -> Iterator[tuple[Executor, int]]:
        with Threads(jobs) as executor:
            yield executor, jobs

    monkeypatch.setattr("anyhook.cli.verb_backtest._workers", threads)
    return sent


def recorded(box: Box, commands: list[str] = COMMANDS) -> None:
    project = str(box.world.project.resolve())
    box.write(*(made(project=project, data={"tool": "Bash", "input": {"command": each}}) for each in commands))


def script(box: Box, text: str = GUARD, **more: Any) -> Path:
    path = box.world.write(box.world.root / "guard.py", text)
    box.world.hook("kodik", "PreToolUse", f"python3 {path}", **more)
    return path


def tried(box: Box, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = box.json("backtest", *words, "--sandbox", "none")
    return found


def counts(found: dict[str, Any]) -> tuple[int, ...]:
    (row,) = found["hooks"].values()
    return tuple(row[key] for key in ("events", "runs", "blocks", "rewrites", "failures"))


def test_what_a_script_would_have_done(box: Box, pool: list[int]) -> None:
    recorded(box)
    script(box)
    found = tried(box, "guard.py", "--jobs", "1")
    assert counts(found) == (7, 5, 2, 1, 1)
    assert found["cold_only"] == []
    assert [row["warm"] for row in found["hooks"].values()] == [2], "all but the first of the batch"
    kinds = [(each["n"], each["kind"]) for each in found["findings"]]
    assert kinds == [(2, "blocks"), (3, "rewrites"), (4, "fails"), (7, "blocks")]
    assert found["findings"][0]["what"] == "no rm -rf x"
    rewrite = found["findings"][1]
    assert [rewrite[key] for key in ("about", "what", "before", "after")] == [
        "old",
        "input",
        {"command": "old"},
        {"command": "new"},
    ]
    assert sum(pool) == 5
    assert counts(tried(box, "guard.py")) == (7, 5, 2, 1, 1)
    assert sum(pool) == 5, "what has run once does not run again"
    status, out, _ = box.call("backtest", "guard.py", "--sandbox", "none", "-n", "2")
    assert status == 0
    lines = out.splitlines()
    assert lines[0] == "… 2 before these; -n shows more"
    assert "guard.py fails\n      crash\n    + fails: it exited with status 1: Traceback" in out
    assert "guard.py blocks\n    - rm y\n    + blocks: no rm y\n" in out
    assert lines[-1].split()[1:7] == ["7", "5", "2", "0", "1", "1"]


def test_a_file_means_its_hooks(box: Box, pool: list[int]) -> None:
    """What it declares, what runs it, and rules that are in no place where they would count."""
    recorded(box)
    path = script(box)
    (known,) = tried(box, str(path))["hooks"]
    assert known.startswith("kodik:user:PreToolUse:")
    (declared,) = [hook["source"] for hook in box.json("list")["hooks"] if hook["id"] == known]
    assert [*tried(box, declared.rpartition(":")[0])["hooks"]] == [known]
    rules = box.world.write(box.world.root / "new.toml", '[[rule]]\nname = "no rm"\nwhen = "runs rm"\n')
    found = tried(box, str(rules))
    assert [*found["hooks"]] == ["anyhook:user:new:pre_tool:no-rm"]
    assert counts(found)[:3] == (7, 0, 2)
    other = box.world.write(box.world.root / "other.py", "")
    assert "no hook is declared in this file or runs it" in box.call("backtest", str(other))[2]


def test_a_new_python_hook_is_warm(box: Box, pool: list[int]) -> None:
    """`anyhook new` declares it by a quoted path with a variable."""
    satellite("testing")
    recorded(box, [f"c{number}" for number in range(9)])
    assert box.call("new", "keeper", "--dialect", "kodik", "--event", "PreToolUse", "--lang", "python")[0] == 0
    found = tried(box, "keeper", "--trust", "all", "--jobs", "1")
    assert [(row["runs"], row["warm"]) for row in found["hooks"].values()] == [(9, 6)]


def test_outputs_prompts_and_questions_are_told(box: Box, pool: list[int]) -> None:
    project = str(box.world.project.resolve())
    given = {"tool": "Bash", "input": {"command": "cat x"}, "output": "a\nsecret\nc"}
    box.write(
        made(project=project, event="post_tool", data=given),
        made(project=project, event="user_prompt_submit", data={"prompt": "do it"}),
        made(project=project, data={"tool": "Bash", "input": {"command": "ls"}}),
    )
    answers = {
        ("kolega", "PostToolUse"): {"hookSpecificOutput": {"updatedToolOutput": "a\n[gone]\nc"}},
        ("kode", "user_prompt_submit"): {"replace_prompt": "do it well"},
        ("agenthooks", "before_tool"): {"decision": "ask", "reason": "sure?"},
    }
    for (table, native), answer in answers.items():
        box.world.hook(table, native, f"printf %s '{json.dumps(answer)}'")
    words = [hook["id"] for hook in box.json("list")["hooks"] if hook["scope"] == "user"]
    found = [(each["kind"], each["what"], each["after"]) for each in tried(box, *words)["findings"]]
    assert found == [
        ("rewrites", "output", "a\n[gone]\nc"),
        ("rewrites", "prompt", "do it well"),
        ("asks", "sure?", None),
    ]
    status, out, _ = box.call("backtest", *words, "--sandbox", "none")
    assert status == 0
    assert "rewrites the output\n      a\n    - secret\n    + [gone]\n      c\n" in out
    assert "rewrites the prompt\n    - do it\n    + do it well\n" in out
    assert "asks\n      ls\n    + asks: sure?\n" in out


def test_the_newest_of_very_many_are_told(box: Box, pool: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anyhook.cli.verb_backtest.EXAMPLES", 3)
    recorded(box, [f"rm {number}" for number in range(8)])
    script(box)
    found = tried(box, "guard.py", "-n", "2")
    assert ([each["n"] for each in found["findings"]], found["found"]) == ([6, 7, 8], 8)
    assert "… 6 before these" in box.call("backtest", "guard.py", "--sandbox", "none", "-n", "2")[1]


def test_a_changed_hook_runs_again(box: Box, pool: list[int]) -> None:
    recorded(box)
    path = script(box)
    assert counts(tried(box, "guard.py"))[2] == 2
    path.write_text("pass\n")
    assert counts(tried(box, "guard.py"))[2] == 0
    assert sum(pool) == 10


def test_new_events_only_are_run(box: Box, pool: list[int]) -> None:
    recorded(box)
    script(box)
    tried(box, "guard.py")
    recorded(box, ["rm z", "ls"])
    assert counts(tried(box, "guard.py")) == (9, 6, 3, 1, 1)
    assert pool[-1] == 1


def test_a_hook_that_let_go(box: Box, pool: list[int]) -> None:
    recorded(box, ["ls"])
    script(box, "pass")
    identity = "kodik:user:PreToolUse:guard.py"
    project = str(box.world.project.resolve())
    blocked = made(project=project, data={"tool": "Bash", "input": {"command": "x"}})
    blocked["decision"].update(verdict="block", hook=identity, reason="was bad")
    box.write(blocked)
    (finding,) = tried(box, identity)["findings"]
    assert (finding["kind"], finding["what"]) == ("lets go", "was bad")


def test_a_rewrite_of_what_was_stopped_changes_nothing(box: Box, pool: list[int]) -> None:
    script(box)
    project = str(box.world.project.resolve())
    for effect in ("deny_tool", "feedback"):
        blocked = made(project=project, data={"tool": "Bash", "input": {"command": "old"}, "call_id": effect})
        blocked["decision"].update(verdict="block", effect=effect, hook="another", reason="r")
        box.write(blocked)
    found = tried(box, "guard.py")
    assert (counts(found), [each["n"] for each in found["findings"]]) == ((2, 2, 0, 2, 0), [2])


REMEMBERS = """
import sys
if hasattr(sys, "seen"):
    sys.exit(0)
sys.seen = 1
print("r", file=sys.stderr)
sys.exit(2)
"""
STRANGE = {
    "past sys.stdout": 'import os; os.write(1, b\'{"decision": "block", "reason": "r"}\')',
    "by another process": "import subprocess; subprocess.run(['sh', '-c', 'echo r >&2; exit 2']); raise SystemExit(2)",
    "ends at once": "import os; os.write(2, b'r'); os._exit(2)",
    "remembers": REMEMBERS,
}


@pytest.mark.parametrize("how", STRANGE)
def test_a_script_that_wants_a_process_of_its_own(box: Box, pool: list[int], how: str) -> None:
    """The first samples show it; then every event runs in a separate process."""
    recorded(box, [f"c{number}" for number in range(6)])
    script(box, STRANGE[how])
    found = tried(box, "guard.py", "--jobs", "1")
    assert counts(found) == (6, 6, 6, 0, 0)
    assert [row["warm"] for row in found["hooks"].values()] == [0]


def test_interrupted_when_that_was_seen(box: Box, pool: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers from the long-lived interpreter are not stored for the next call."""
    recorded(box, [f"c{number}" for number in range(6)])
    script(box, REMEMBERS)

    @contextmanager
    def interrupted(_: str) -> Iterator[Callable[[int, int], None]]:
        def tell(done: int, _: int) -> None:
            if done:
                raise KeyboardInterrupt

        yield tell

    with monkeypatch.context() as patch:
        patch.setattr("anyhook.cli.verb_backtest.progress", interrupted)
        assert box.call("backtest", "guard.py", "--jobs", "1", "--sandbox", "none")[0] == 130
    assert counts(tried(box, "guard.py", "--jobs", "1")) == (6, 6, 6, 0, 0)


def test_out_of_time(box: Box, pool: list[int]) -> None:
    recorded(box, ["slow", "fast"])
    script(box, "import sys, time\nif 'slow' in sys.stdin.read(): time.sleep(60)", timeout=6)
    found = tried(box, "guard.py")
    assert counts(found) == (2, 2, 0, 0, 1)
    assert "did not end within its limit" in found["findings"][0]["what"]


def test_a_callable(box: Box, pool: list[int]) -> None:
    recorded(box)
    box.world.module(
        "rules",
        "from kolega_code.hooks import HookOutcome\n"
        "def check(event):\n"
        "    command = event.payload['tool_input']['command']\n"
        "    print('talk')\n"
        "    return HookOutcome.deny('no') if 'rm' in command else None\n",
    )
    box.world.kolega("PreToolUse", {"type": "python", "callable": "rules:check"}, scope="project")
    box.world.approve()
    found = tried(box, "rules:check", "--jobs", "1")
    assert counts(found) == (7, 5, 2, 0, 0)
    assert found["cold_only"] == []


def test_a_shell_command(box: Box, pool: list[int]) -> None:
    recorded(box)
    box.world.hook("kodik", "PreToolUse", "! grep -q rm || { echo no >&2; exit 2; }", name="x")
    assert counts(tried(box, "kodik:user"))[:3] == (7, 5, 2)


@pytest.mark.parametrize("agent", HOSTS)
def test_events_of_every_agent_are_in_the_hooks_own_words(box: Box, pool: list[int], agent: str) -> None:
    """Agents have different names for the shell tool. The hook only knows its dialect's name."""
    (name, *_) = [native for native, tool in host(agent).tools.items() if (tool.ours, tool.split) == ("shell", None)]
    data = {"tool": name, "input": {"command": "rm x"}}
    box.write(made(project=str(box.world.project.resolve()), host=agent, hosted=True, data=data))
    group: Json = {"matcher": "Bash", "hooks": [{"type": "command", "command": "! grep -q '\"Bash\".*rm' || exit 2"}]}
    box.world.declare(box.world.home / "Documents/Kodik/Hooks/hooks.json", "PreToolUse", group)
    assert counts(tried(box, "kodik:user"))[:3] == (1, 1, 1)


def test_an_event_that_two_entries_told_us_of_is_one(box: Box, pool: list[int]) -> None:
    script(box)
    payload = {"session_id": "s", "cwd": str(box.world.project), "tool_use_id": "1", "tool_name": "Bash"}
    said = json.dumps({**payload, "tool_input": {"command": "rm x"}})
    for _ in range(2):
        assert box.world.command("bridge", "claude", "PreToolUse", stdin=said).returncode == 0
    problems = [[each["code"] for each in record["decision"].get("problems", ())] for record in box.world.journal()]
    assert problems == [[], ["fired-twice"]]
    found = tried(box, "guard.py")
    assert (counts(found)[:3], found["findings"]) == ((1, 1, 1), [])
    cases, left_out = satellite("testing.kit.recorded").cases_of(map(JournalLine.of, box.world.journal()))
    assert (cases, [*left_out.values()]) == ([], [1]), "the user's own hook decided it, and nobody else was asked"


def test_events_that_were_not_kept(box: Box, pool: list[int]) -> None:
    project = str(box.world.project.resolve())
    box.write(
        made(project=project, bodies="none"),
        made(project=project, lost="x"),
        made(project=project, data={"tool": "Bash", "input": {"command": "x… [20000 characters in all]"}}),
        made(project="/elsewhere"),
    )
    script(box)
    found = tried(box, "guard.py")
    assert (found["hooks"], sum(found["left_out"].values())) == ({}, 3)
    status, _, err = box.call("backtest", "guard.py", "--sandbox", "none")
    assert status == 0
    assert "no recorded event matches except those left out" in err


def test_wrong_calls(box: Box, pool: list[int]) -> None:
    script(box)
    box.world.hook("kodik", "Stop", "true", scope="project")
    box.world.kolega("Stop", {"type": "prompt", "prompt": "Fine?"})
    for words, why in (
        (["nothing"], "nothing: there is no such hook. Hooks: "),
        (["gard.py"], "gard.py: there is no such hook. Did you mean `guard.py`? Hooks: "),
        (["kodik"], "kodik: several hooks have this in their ids: "),
        (["kodik:project"], "kodik:project:Stop:true is not approved"),
        (["kolega:user"], "a `prompt` handler cannot be backtested"),
        (["guard.py", "--jobs", "0"], "--jobs 0: "),
    ):
        status, out, err = box.call("backtest", *words, "--sandbox", "none")
        assert (status, out) == (3, "")
        assert why in err


def test_no_sandbox_no_run(box: Box, pool: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    recorded(box)
    script(box)
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    status, out, err = box.call("backtest", "guard.py")
    assert (status, out) == (3, "")
    assert "bubblewrap (`bwrap`) is not installed" in err
    assert "--sandbox none" in err
    assert pool == []


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_a_sandbox_keeps_everything_as_it_is(box: Box, pool: list[int]) -> None:
    if wrong := works(sandbox_of("bwrap", str(box.world.project), [])):
        pytest.skip(f"no sandbox here: {wrong}")
    recorded(box, ["ls"])
    marks = [box.world.project / "mark", box.world.home / "mark", Path("/tmp") / f"{box.world.root.name}-mark"]
    writes = "; ".join(f"echo x > {mark}" for mark in marks)
    box.world.hook("kodik", "PreToolUse", f"{writes}; cat < /dev/tcp/127.0.0.1/1; echo seen >&2; exit 2", name="x")
    found = box.json("backtest", "kodik:user")
    assert counts(found)[:3] == (1, 1, 1)
    assert [mark for mark in marks if mark.exists()] == []
    marks[2].touch()  # so that only this test can delete it
    try:
        tried(box, "kodik:user")
    finally:
        marks[2].unlink()
    assert [mark.exists() for mark in marks[:2]] == [True, True], "without a sandbox it is another run"


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_a_hook_finds_its_files_in_the_sandbox(box: Box, pool: list[int], tmp_path: Path) -> None:
    """The hook works even if all its files are in /tmp, which is a different folder in the sandbox."""
    if wrong := works(sandbox_of("bwrap", str(box.world.project), [])):
        pytest.skip(f"no sandbox here: {wrong}")
    recorded(box)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "words.py").write_text('BAD = "rm"\n')
    guard = tmp_path / "mine" / "guard.py"
    guard.write_text(f"import words\n{GUARD}")
    box.world.hook("kodik", "PreToolUse", f"python3 {guard}")
    box.world.write(box.world.home / "bin" / "other", f"#!/usr/bin/env python3\n{GUARD}").chmod(0o755)
    box.world.hook("kodik", "PreToolUse", '"$HOME/bin/other"')
    for name in ("guard.py", "other"):
        assert counts(box.json("backtest", name)) == (7, 5, 2, 1, 1)


@pytest.mark.parametrize("count", [120, pytest.param(100_000, marks=pytest.mark.timeout(3_600))])
def test_a_pool_of_processes_and_a_cluster_agree(world: World, count: int) -> None:
    """Run the command itself, once with its own pool and once with a cluster of two workers."""
    distributed = pytest.importorskip("distributed")
    journal = Journal(str(world.state))
    project = str(world.project.resolve())
    for start in range(0, count, 100):
        commands = [f"{'rm' * (number % 3)} {number}" for number in range(start, min(start + 100, count))]
        records = [made(project=project, data={"tool": "Bash", "input": {"command": each}}) for each in commands]
        assert journal.put(*(json.dumps(record).encode() + b"\n" for record in records))
    path = world.write(world.root / "guard.py", GUARD)
    world.hook("kodik", "PreToolUse", f"{sys.executable} {path}")
    words = ["backtest", "guard.py", "--sandbox", "none", "--jobs", "2", "--json"]
    one = tables(world, *words)
    (world.state / "backtest.sqlite").unlink()
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=":0", processes=True) as cluster:
        other = tables(world, *words, "--dask", cluster.scheduler_address)
    assert one == other
    assert counts(one)[:3] == (count, count, count - -(-count // 3))
    assert one["cold_only"] == []


def tables(world: World, *words: str) -> dict[str, Any]:
    """The output of a backtest without its timings."""
    before = time.monotonic()
    command = [sys.executable, "-m", "anyhook", *words]
    done = subprocess.run(command, env=world.env, cwd=world.project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    for row in found["hooks"].values():
        took = f"{row['events']} events, {row['warm']} of them warm, in {time.monotonic() - before:.1f} s"
        sys.stdout.write(f"{took}\n")  # shown with -s
        for clock in ("p50_ms", "p95_ms", "cost_s"):
            assert row.pop(clock) > 0
    return found


def test_what_is_a_python_script(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("#!/usr/bin/env python3\n")
    search = "/usr/bin:/bin:" + str(Path(shutil.which("python3") or "").parent)
    env = {"PATH": search, "HOME": str(tmp_path), "HERE": str(tmp_path), "X": "x", "TWO": "x y", "STAR": "*"}
    for argv in (
        ["python3", str(path), "x"],
        ["sh", "-c", f"python3 {path} x"],
        ["python3", "a.py", "x"],
        [str(path), "x"],
        ["bash", "-c", '"$HERE"/a.py x'],
        ["bash", "-c", '"${HERE}/a.py" "$X"'],
        ["bash", "-c", "python3 $HERE/a.py 'x'"],
        ["bash", "-c", "~/a.py x"],
    ):
        found = read_script(argv, str(tmp_path), env)
        assert found is not None, argv
        assert (str(tmp_path / found.path), found.words[found.at + 1 :]) == (str(path), ("x",))
    two = read_script(["sh", "-c", 'python3 -u a.py "$TWO" \'it is $X\' ""'], str(tmp_path), env)
    assert two is not None
    assert two.words == ("python3", "-u", "a.py", "x y", "it is $X", "")
    for argv in (
        ["sh", "-c", f"python3 {path} | cat"],
        ["sh", "-c", f"X=1 python3 {path}"],
        ["sh", "-c", f"python3 {path} $TWO"],
        ["sh", "-c", f"python3 {path} $STAR"],
        ["sh", "-c", f"python3 {path} $NONE"],
        ["sh", "-c", "python3 ~other/a.py"],
        ["sh", "-c", "python3 x~/a.py"],
        ["sh", "-c", f'python3 {path} "$1"'],
        ["sh", "-c", f'python3 {path} "$(date)"'],
        ["sh", "-c", f'python3 {path} "${{X:-y}}"'],
        ["sh", "-c", f'python3 {path} "open'],
        ["sh", "-c", f"python3 {path}\ntrue"],
        ["sh", "-c", ""],
        ["python3", "-c", "pass"],
        ["python3", "none.py"],
        ["cat", str(path)],
        ["python3"],
        [],
    ):
        assert read_script(argv, str(tmp_path), env) is None, argv


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_interrupted_and_gone_on_with(world: World, number: int) -> None:
    """No process is left running. The next call runs only the rest and gives the same table."""
    journal = Journal(str(world.state))
    project = str(world.project.resolve())
    commands = [f"{'rm' * (each % 3)} {each}" for each in range(120)]
    journal.put(
        *(
            json.dumps(made(project=project, data={"tool": "Bash", "input": {"command": each}})).encode() + b"\n"
            for each in commands
        )
    )
    ran = world.root / "ran"
    world.hook("kodik", "PreToolUse", f"echo $$ >> {ran}; sleep 0.05; ! grep -q rm || exit 2", name="x")
    words = [sys.executable, "-m", "anyhook", "backtest", "kodik:user", "--sandbox", "none", "--jobs", "2", "--json"]
    child = subprocess.Popen(words, env=world.env, cwd=world.project, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not ran.exists() or len(ran.read_text().split()) < 70:  # more than two batches, so some results are stored
        time.sleep(0.05)
    child.send_signal(number)
    _, err = child.communicate(timeout=240)
    assert child.returncode == (130 if number == signal.SIGINT else -number)
    assert b"Traceback" not in err
    settled = _settled(ran)
    assert settled < 120
    found = tables(world, *words[3:])
    assert counts(found)[:3] == (120, 120, 80)
    again = len(ran.read_text().split()) - settled
    assert again < 120, "what had run was kept"


def _settled(path: Path) -> int:
    """The number of lines in a file once no process is writing to it."""
    before = -1
    while (now := len(path.read_text().split())) != before:
        before = now
        time.sleep(0.7)
    return now


def test_a_worker_that_is_lost(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded(box)
    box.world.hook("kodik", "PreToolUse", "kill -9 $PPID", name="x")  # the worker is the hook's parent
    status, out, err = box.call("backtest", "kodik:user", "--sandbox", "none", "--jobs", "1")
    assert (status, out) == (3, "")
    assert "a process that ran the hooks is gone" in err
