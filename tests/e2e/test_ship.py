"""`anyhook ship`, and `--from` for what reads a journal (contract, §17)."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from google.protobuf.json_format import Parse
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

import anyhook
from anyhook.journal import search as journal_search
from anyhook.journal.machines import MACHINE, NUMBER_STEP
from anyhook.journal.record import JournalPolicy, head_of
from anyhook.journal.record import record as journal_line
from anyhook.journal.run_index import index_elsewhere, known_runs
from anyhook.journal.search import Wanted, record_of, search
from anyhook.journal.ship import BATCH_LINES, STATUS_FILE, CannotShip, Directory, MachineStatus, Shipper, said_by
from anyhook.journal.stats import of_machines
from anyhook.journal.writer import JournalWriter, current_path, full_path
from anyhook.model.decision import Decision, Report
from anyhook.model.event import Event
from anyhook.platform.store import Store
from command import SCRIPT
from conftest import World

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from anyhook.journal.read import JournalLine
    from anyhook.model.words import HookStatus

BEGIN_NS = (time.time_ns() // 10**9 - 7_200) * 10**9


class Receiver:
    """A collector that takes only what OTLP's own schema allows: unknown fields and wrong types are answered 400."""

    def __init__(self) -> None:
        self.bodies: list[str] = []
        self.records: list[Any] = []
        self.resources: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.answers: list[tuple[int, str]] = []
        """What it answers instead, once each."""
        self.max_bytes = 4 << 20
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                status, text = outer.take(self.path, self.rfile.read(int(self.headers["Content-Length"])), self.headers)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Location", "/elsewhere")
                try:
                    self.end_headers()
                    self.wfile.write(text.encode())
                except OSError:
                    return  # the sender was killed

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, path: str, body: bytes, headers: Any) -> tuple[int, str]:
        self.paths.append(path)
        if self.answers:
            return self.answers.pop(0)
        if len(body) > self.max_bytes:
            return 413, "too large"
        try:
            assert headers["Content-Type"] == "application/json"
            request = Parse(body.decode(), ExportLogsServiceRequest())
        except Exception as error:  # noqa: BLE001 (whatever it is, the sender is told)
            return 400, str(error)
        for resource_logs in request.resource_logs:
            self.resources.append({each.key: each.value.string_value for each in resource_logs.resource.attributes})
            for scope in resource_logs.scope_logs:
                self.records += scope.log_records
                self.bodies += [record.body.string_value for record in scope.log_records]
        return 200, "{}"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.server.shutdown()
    made.server.server_close()


def record(world: World, count: int, start: int = 1, at: int = BEGIN_NS) -> None:
    """Write records of one kind into a world's journal, one per second."""
    made = [
        {
            "v": 1, "at": at + number * 10**9, "host": "claude", "project": "/p", "session": f"s{number}",
            "mode": "enforce", "event": "pre_tool", "data": {"tool": "Bash", "input": {"command": f"echo {number}"}},
            "calls": [], "decision": {"verdict": "none" if number % 10 else "block", "hooks": []},
        }
        for number in range(start, start + count)
    ]  # fmt: skip
    world.state.mkdir(parents=True, exist_ok=True)
    JournalWriter(str(world.state)).append([f"{json.dumps(each)}\n".encode() for each in made])


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def shipped(world: World, to: object, status: int = 0) -> dict[str, Any]:
    done = world.command("ship", "--to", str(to), "--once", "--json")
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    if status:
        assert done.stdout == ""
        return {"why": done.stderr}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def the_journal(fleet: Path) -> Path:
    (machine,) = fleet.iterdir()
    return machine / "journal.jsonl"


# -- into a directory


def test_a_directory_gets_the_lines_as_they_are_and_once(world: World) -> None:
    fleet = world.root / "fleet"
    record(world, 1200)
    told = shipped(world, fleet)
    assert (told["sent"], told["last"], told["lost"]) == (1200, 1200, 0)
    assert lines(the_journal(fleet)) == lines(world.state / "journal.jsonl")
    assert shipped(world, fleet)["sent"] == 0
    record(world, 3, 1201)
    assert shipped(world, fleet)["sent"] == 3
    assert lines(the_journal(fleet)) == lines(world.state / "journal.jsonl")
    assert world.command("verify", "--from", str(fleet)).returncode == 0


def test_a_lost_cursor_and_an_unfinished_line_give_no_double(world: World) -> None:
    fleet = world.root / "fleet"
    record(world, 700)
    shipped(world, fleet)
    machine = json.loads((world.state / "ship" / "machine.json").read_text())
    for cursor in (world.state / "ship").glob("*.json"):
        if cursor.name != "machine.json":
            cursor.unlink()
    with the_journal(fleet).open("a") as file:
        file.write('{"v": 1, "at": 17')  # we were killed in the middle of a line
    record(world, 5, 701)
    assert shipped(world, fleet)["machine"] == machine["id"]
    assert lines(the_journal(fleet)) == lines(world.state / "journal.jsonl")


def test_a_full_disk_leaves_whole_lines_and_the_rest_for_later(world: World) -> None:
    fleet = world.root / "fleet"
    record(world, 1500)
    shipper = Shipper(str(world.state), str(fleet), Directory(str(fleet)))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
    try:
        with pytest.raises(CannotShip, match="cannot be written"):
            shipper.send()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    written = the_journal(fleet).read_bytes()
    assert written.endswith(b"\n")
    assert written.count(b"\n") % BATCH_LINES == 0
    shipper.send()
    assert lines(the_journal(fleet)) == lines(world.state / "journal.jsonl")


def test_files_that_became_full_and_records_that_were_deleted(world: World) -> None:
    fleet = world.root / "fleet"
    record(world, 20)
    shipped(world, fleet)
    record(world, 20, 21)
    os.rename(current_path(str(world.state)), full_path(str(world.state), 40))
    record(world, 20, 41)
    assert shipped(world, fleet)["sent"] == 40
    record(world, 20, 61)
    os.rename(current_path(str(world.state)), full_path(str(world.state), 80))
    record(world, 20, 81)
    os.unlink(full_path(str(world.state), 80))  # down for so long that it became too old
    told = shipped(world, fleet)
    assert (told["sent"], told["lost"]) == (20, 20)


def test_a_journal_that_is_replaced_by_a_new_one(world: World) -> None:
    fleet = world.root / "fleet"
    record(world, 20)
    shipped(world, fleet)
    os.unlink(world.state / "journal.jsonl")
    record(world, 30, at=BEGIN_NS + 10**9)
    assert shipped(world, fleet)["sent"] == 30
    assert sorted(len(lines(path / "journal.jsonl")) for path in fleet.iterdir()) == [20, 30]
    assert world.command("verify", "--from", str(fleet)).returncode == 0


def test_a_machine_is_a_state_directory(world: World, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Three homes of one host are three machines, and every verb reads them as one past, in order of time."""
    fleet = world.root / "fleet"
    worlds = [world, *(World(tmp_path_factory.mktemp(f"machine{number}")) for number in range(2))]
    for number, each in enumerate(worlds):
        record(each, 40, at=BEGIN_NS + number * 100_000_000)
        shipped(each, fleet)
    assert len(list(fleet.iterdir())) == 3
    told = [json.loads(line) for line in world.command("log", "--from", str(fleet), "--json").stdout.splitlines()]
    assert len(told) == 120
    assert [each["at"] for each in told] == sorted(each["at"] for each in told)
    last = [
        json.loads(line) for line in world.command("log", "--from", str(fleet), "--json", "-n", "5").stdout.splitlines()
    ]
    assert last == told[-5:]
    found = world.command("log", "--from", str(fleet), "--json", "--search", "echo 7").stdout.splitlines()
    assert [json.loads(line)["data"]["input"]["command"] for line in found] == ["echo 7"] * 3
    names = {path.name.removeprefix(MACHINE) for path in fleet.iterdir()}
    assert {json.loads(line)["anyhook.machine"] for line in found} == names
    for each in told:
        written = json.dumps({key: value for key, value in each.items() if key != "anyhook.machine"})
        assert written in lines(fleet / f"{MACHINE}{each['anyhook.machine']}" / "journal.jsonl"), "as it was written"
    one = sorted(names)[0]
    of_one = world.command("log", "--from", str(fleet), "--machine", one[:9])
    assert len(of_one.stdout.splitlines()) == 40
    assert all(one in line for line in of_one.stdout.splitlines())
    blocked = world.command("log", "--from", str(fleet), "--json", "--verdict", "block").stdout.splitlines()
    assert len(blocked) == 12
    proof = json.loads(world.command("verify", "--from", str(fleet), "--json").stdout)
    assert (proof["records"], proof["damage"], len(proof["machines"])) == (120, [], 3)
    assert world.command("add", "git", "--yes").returncode == 0
    report = json.loads(world.command("report", "git/clean", "--from", str(fleet), "--json").stdout)
    assert report["calls"] == 120
    rule = 'use = ["git"]\n[[rule]]\nname = "no echo"\nwhen = "runs echo"\nbecause = "x"\n'
    world.write(world.home / "config" / "anyhook" / "hooks.toml", rule)
    test = json.loads(world.command("backtest", "no echo", "--from", str(fleet), "--json").stdout)
    (tally,) = test["hooks"].values()
    assert (tally["events"], tally["blocks"], test["found"]) == (120, 120, 108), "12 were refused then"
    assert [each["at"] for each in test["findings"]] == sorted(each["at"] for each in test["findings"])
    alone = json.loads(world.command("backtest", "no echo", "--from", str(fleet), "--jobs", "1", "--json").stdout)
    assert alone == test, "workers say what one process says"
    edited = next(fleet.iterdir()) / "journal.jsonl"
    edited.write_text(edited.read_text().replace("echo 7", "echo 8"))
    assert world.command("verify", "--from", str(fleet)).returncode == 1


@pytest.mark.slow
def test_a_cluster_judges_the_rules_of_many_machines(world: World, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The workers have none of the person's files: they get the rules, and read the journals."""
    distributed = pytest.importorskip("distributed")
    fleet = world.root / "fleet"
    for each in (world, World(tmp_path_factory.mktemp("other"))):
        record(each, 40)
        shipped(each, fleet)
    world.write(
        world.home / "config/anyhook/hooks.toml", '[[rule]]\nname = "no echo"\nwhen = "runs echo"\nbecause = "x"\n'
    )
    words = ["backtest", "no echo", "--from", str(fleet), "--json"]
    alone = world.command(*words, "--jobs", "1")
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=":0", processes=True) as cluster:
        done = world.command(*words, "--dask", cluster.scheduler_address)
        assert (done.returncode, done.stdout) == (0, alone.stdout)
        with distributed.Client(cluster) as client:
            assert client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter) > 0
    assert json.loads(alone.stdout)["hooks"]


def test_each_record_of_many_machines_has_its_own_number(
    world: World, tmp_path_factory: pytest.TempPathFactory
) -> None:
    fleet = world.root / "fleet"
    for number, each in enumerate((world, World(tmp_path_factory.mktemp("other")))):
        record(each, 3, at=BEGIN_NS + number * 10**9)
        shipped(each, fleet)
    found = [*search(str(fleet), Wanted())]
    assert len({line.n for line in found}) == 6
    for line in found:
        again = record_of(str(fleet), str(line.n))
        assert again is not None
        assert (again.raw, again.n) == (line.raw, line.n)
    assert record_of(str(fleet), str(7 * NUMBER_STEP)) is None


def test_a_hook_that_only_other_machines_have_is_reported(
    world: World, tmp_path_factory: pytest.TempPathFactory
) -> None:
    fleet = world.root / "fleet"
    for each in (World(tmp_path_factory.mktemp("one")), World(tmp_path_factory.mktemp("two"))):
        rule = '[[rule]]\nname = "no listing"\nwhen = "runs ls"\nbecause = "x"\n'
        each.write(each.home / "config/anyhook/hooks.toml", rule)
        each.hook("kodik", "PreToolUse", "exit 0", name="theirs")
        for line in ("ls", "ls -l", "pwd"):
            each.fire("pre_tool", "--tool", "Bash", "--input", json.dumps({"command": line}))
        shipped(each, fleet)
    words = ("--from", str(fleet), "--json")
    done = world.command("report", "no-listing", *words)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["stopped"], told["calls"], len(told["examples"])) == (4, 4, 4)
    (theirs,) = [
        row["hook"] for row in json.loads(world.command("stats", *words).stdout)["hooks"] if "kodik" in row["hook"]
    ]
    ran = json.loads(world.command("report", theirs, *words).stdout)
    assert (ran["stopped"], ran["calls"], ran["failures"]) == (0, 2, 0), "a refusal of the rule came first"
    assert world.command("report", "no-listing").returncode == 3
    assert "no such" not in world.command("report", "gone", *words).stdout


def test_a_machine_says_which_agents_it_has_and_which_guards_are_off(world: World) -> None:
    fleet = world.root / "fleet"
    program = world.write(world.root / "bin/claude", "#!/bin/sh\necho '2.1.325 (Claude Code)'\n")
    program.chmod(0o755)
    world.env["PATH"] = f"{program.parent}:{world.env['PATH']}"
    for words in (["add", "git", "--yes"], ["install", "claude"], ["disable", "git/clean"]):
        assert world.command(*words).returncode == 0, words
    world.fire("pre_tool", "--tool", "Bash", "--input", '{"command": "ls"}')
    shipped(world, fleet)
    (machine,) = fleet.iterdir()
    said = said_by(str(fleet), machine.name.removeprefix(MACHINE))
    assert (said.anyhook, dict(said.agents)) == (anyhook.__version__, {"claude": "2.1.325"})
    assert said.off == ("anyhook:user:git:pre_tool:clean",)
    assert said.protected
    index = index_elsewhere(str(world.state), str(fleet))
    with known_runs(str(fleet), lambda _done, _all: None, path=index) as known:
        ((row,), _) = of_machines(known, Wanted())
    assert row.off == 1, "and so do its records"
    (machine / STATUS_FILE).write_text('{"agents": [1], "off": "x", "protected": "yes", "anyhook": 3}')
    assert said_by(str(fleet), machine.name.removeprefix(MACHINE)) == MachineStatus()
    assert said_by(str(fleet), "none") == MachineStatus()


def test_a_machine_with_nothing_to_say_sends_its_journal_alone(world: World, tmp_path: Path) -> None:
    world.hook("kodik", "PreToolUse", "exit 0")
    world.command("fire", "pre_tool", "--tool", "Bash")
    shipped(world, tmp_path / "fleet")
    assert [path.name for path in (tmp_path / "fleet").rglob("*") if path.is_file()] == ["journal.jsonl"]


def test_the_last_records_of_many_machines_need_few_of_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a thousand machines, all of the last records of each would be gigabytes."""
    policy, event = JournalPolicy(caller=("claude", "/p", "")), Event.pre_tool("Bash", {"command": "ls"})
    times = [*range(40 * 25)]
    random.Random(7).shuffle(times)
    for number in range(40):
        writer = JournalWriter(str(tmp_path / f"{MACHINE}{number:02}"))
        own = sorted(times[number * 25 : number * 25 + 25])
        head = head_of(event, "enforce", policy)
        writer.append([journal_line(head, Decision("pre_tool"), (), policy, BEGIN_NS + at * 10**9) for at in own])
        writer.close()
    read: list[int] = []
    plain = journal_search.newest

    def counted(*given: Any) -> list[JournalLine]:
        found = plain(*given)
        read.append(len(found))
        return found

    monkeypatch.setattr(journal_search, "newest", counted)
    found = plain(str(tmp_path), Wanted(), 20)
    assert [((line.at_ns or 0) - BEGIN_NS) // 10**9 for line in found] == [*range(980, 1000)]
    assert (len(read), sum(read) < 150) == (40, True), "at most 20 of each would be 800"


def test_stats_of_many_machines(world: World, tmp_path_factory: pytest.TempPathFactory) -> None:
    fleet = world.root / "fleet"
    for each in (world, World(tmp_path_factory.mktemp("other"))):
        each.hook("kodik", "PreToolUse", "exit 0")
        for _ in range(3):
            each.fire("pre_tool", "--tool", "Bash", "--input", '{"command": "ls"}')
        shipped(each, fleet)
    before = sorted(fleet.rglob("*"))
    for _ in range(2):  # without and with the index
        (row,) = json.loads(world.command("stats", "--from", str(fleet), "--json").stdout)["hooks"]
        assert row["runs"] == 6
        assert sorted(fleet.rglob("*")) == before, "nothing is written where others read"
    assert len(Store(str(world.state), "indexes").names()) == 1
    one = next(fleet.iterdir()).name.removeprefix(MACHINE)
    (row,) = json.loads(world.command("stats", "--from", str(fleet), "--machine", one, "--json").stdout)["hooks"]
    assert row["runs"] == 3


def test_the_figures_of_each_machine(world: World, tmp_path: Path) -> None:
    """The page's tables, from records as they are written: who refused, what shadow mode let pass, what is off."""
    call, told = Event.pre_tool("Bash", {"command": "ls"}), {"session": "s"}
    policy = JournalPolicy(caller=("claude", "/p", ""))

    def said(hook: str, status: HookStatus = "ran", **more: Any) -> Report:
        return Report(hook, hook, "anyhook", "user", "", status, **more)

    refusal = said("git/clean", verdict="block")
    kinds = {
        "refused": Decision("pre_tool", "block", hook="git/clean", hooks=(refusal,)),
        "shadow": Decision("pre_tool", hooks=(refusal.replace(shadow=True),)),
        "off": Decision("pre_tool", hooks=(said("kodik:user:x", "untrusted"),)),
        "asked": Decision("pre_tool", "ask", hook="git/push", hooks=(said("git/push", verdict="ask"),)),
    }
    now = time.time_ns()
    for name, what in (("aa", ["refused", "refused", "asked"]), ("ab", ["shadow", "asked"]), ("ba", ["off"])):
        folder = tmp_path / f"{MACHINE}{name}"
        folder.mkdir()
        writer = JournalWriter(str(folder))
        head = head_of(call.replace(data={**call.data, **told}), "enforce", policy)
        writer.append(
            [journal_line(head, kinds[each], (), policy, now - 10**9 + place) for place, each in enumerate(what)]
        )
        writer.close()
    index = index_elsewhere(str(world.state), str(tmp_path))
    for _ in range(2):
        with known_runs(str(tmp_path), lambda _done, _all: None, path=index) as known:
            machines, noisy = of_machines(known, Wanted())
            some, _ = of_machines(known, Wanted(machine="a"))
            (ruled,), _ = of_machines(known, Wanted(hook="git/clean", verdict="block", machine="aa"))
        assert [(each.machine, each.calls, each.refused, each.would_block, each.off) for each in machines] == [
            ("ba", 1, 0, 0, 1), ("aa", 3, 2, 0, 0), ("ab", 2, 0, 1, 0),
        ]  # fmt: skip
        assert {each.agents for each in machines} == {("claude",)}
        assert [(each.hook, each.refused, each.asked, each.machines) for each in noisy] == [
            ("git/clean", 2, 0, 1), ("git/push", 0, 2, 2),
        ]  # fmt: skip
        assert [each.machine for each in some] == ["aa", "ab"]
        assert (ruled.machine, ruled.calls, ruled.refused) == ("aa", 2, 2)


@pytest.mark.parametrize("verb", [("log",), ("stats",), ("report", "x"), ("backtest", "x"), ("verify",), ("serve",)])
def test_a_directory_without_journals_is_a_bad_call(world: World, verb: tuple[str, ...]) -> None:
    world.hook("kodik", "PreToolUse", "exit 0", name="x")
    for folder in (world.root / "nothing", world.project):
        done = world.command(verb[0], "--from", str(folder), *verb[1:])
        assert (done.returncode, done.stdout) == (3, "")


@pytest.mark.parametrize("to", [None, "ftp://x", "http://", "http://u:p@x", "/dev/null"])
def test_a_destination_that_cannot_be_one_is_a_bad_call(world: World, to: str | None) -> None:
    done = world.command("ship", "--once", *(["--to", to] if to is not None else []))
    assert (done.returncode, done.stdout, len(done.stderr.strip().splitlines())) == (3, "", 1)


# -- to a collector


def test_a_collector_gets_one_record_per_line_with_the_line_as_body(world: World, receiver: Receiver) -> None:
    record(world, 1100)
    assert shipped(world, receiver.url)["sent"] == 1100
    assert receiver.bodies == lines(world.state / "journal.jsonl")
    assert set(receiver.paths) == {"/v1/logs"}
    first = receiver.records[9]
    named = {each.key: each.value for each in first.attributes}
    assert (first.time_unix_nano, first.severity_text) == (BEGIN_NS + 10 * 10**9, "WARN")
    assert named["gen_ai.tool.name"].string_value == "Bash"
    assert named["gen_ai.conversation.id"].string_value == "s10"
    assert named["anyhook.record"].int_value == 10
    machine = json.loads((world.state / "ship" / "machine.json").read_text())["id"]
    assert {each["service.instance.id"] for each in receiver.resources} == {machine}
    assert shipped(world, receiver.url)["sent"] == 0
    assert len(receiver.bodies) == 1100


def test_each_destination_has_a_cursor(world: World, receiver: Receiver) -> None:
    record(world, 3)
    assert shipped(world, receiver.url)["sent"] == 3
    assert shipped(world, world.root / "fleet")["sent"] == 3
    assert shipped(world, f"{receiver.url}/other")["sent"] == 3
    assert receiver.paths == ["/v1/logs", "/other/v1/logs"]


def test_a_collector_that_is_down_gets_everything_later(world: World, receiver: Receiver) -> None:
    record(world, 600)
    receiver.answers = [(503, "down")]
    assert "503" in shipped(world, receiver.url, 1)["why"]
    assert receiver.bodies == []
    gone = "http://127.0.0.1:9"
    assert "cannot be reached" in shipped(world, gone, 1)["why"]
    assert shipped(world, receiver.url)["sent"] == 600
    assert receiver.bodies == lines(world.state / "journal.jsonl")


@pytest.mark.parametrize(
    "answer",
    [(400, "no"), (401, "who"), (307, ""), (302, ""), (200, '{"partialSuccess": {"rejectedLogRecords": "2"}}')],
)
def test_what_is_refused_is_never_skipped(world: World, receiver: Receiver, answer: tuple[int, str]) -> None:
    record(world, 3)
    receiver.answers = [answer]
    shipped(world, receiver.url, 1)
    assert receiver.paths == ["/v1/logs"]  # no redirect is followed
    assert shipped(world, receiver.url)["sent"] == 3
    assert receiver.bodies == lines(world.state / "journal.jsonl")


def test_a_request_that_is_too_large_is_sent_in_parts(world: World, receiver: Receiver) -> None:
    record(world, 400)
    receiver.max_bytes = 60_000
    shipped(world, receiver.url)
    assert receiver.bodies == lines(world.state / "journal.jsonl")


def test_what_was_redacted_stays_so(world: World, receiver: Receiver) -> None:
    secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    world.hook("kodik", "PreToolUse", "exit 0")
    world.fire("pre_tool", "--tool", "Bash", "--input", json.dumps({"command": f"curl -H 'X: {secret}'"}))
    shipped(world, receiver.url)
    assert len(receiver.bodies) == 1
    assert secret not in receiver.bodies[0]
    assert "[redacted]" in receiver.bodies[0]


def test_two_at_once_send_nothing_twice(world: World, receiver: Receiver) -> None:
    record(world, 2000)
    calls = [
        subprocess.Popen([SCRIPT, "ship", "--to", receiver.url, "--once"], env=world.env, cwd=world.project)
        for _ in range(3)
    ]
    assert {call.wait(60) for call in calls} <= {0, 1}
    assert receiver.bodies == lines(world.state / "journal.jsonl")


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_kill_9_leaves_no_gap(world: World, receiver: Receiver) -> None:
    """300 rounds, in which records are written all the time: a directory gets each line once; a collector each at least
    once, in order, and twice at most one batch per kill."""
    chance, fleet, kills, number = random.Random(11), world.root / "fleet", 0, 1
    for _ in range(300):
        count = chance.randint(1, 250)
        record(world, count, number)
        number += count
        for to in (str(fleet), receiver.url):
            with subprocess.Popen(
                [SCRIPT, "ship", "--to", to, "--once"], env=world.env, cwd=world.project,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            ) as child:  # fmt: skip
                try:
                    child.wait(chance.uniform(0.2, 1.2))
                except subprocess.TimeoutExpired:
                    child.kill()
                    kills += 1
    shipped(world, fleet)
    shipped(world, receiver.url)
    written = [line for path in sorted(world.state.glob("journal-*.jsonl")) for line in lines(path)]
    written += lines(world.state / "journal.jsonl")
    folder = next(fleet.iterdir())
    got = [line for path in sorted(folder.glob("journal-*.jsonl")) for line in lines(path)]
    assert got + lines(folder / "journal.jsonl") == written
    assert list(dict.fromkeys(receiver.bodies)) == written
    assert kills > 20
    assert len(receiver.bodies) - len(written) <= kills * BATCH_LINES
    assert world.command("verify", "--from", str(fleet)).returncode == 0


def test_a_directory_is_copied_elsewhere_and_read_there(world: World) -> None:
    record(world, 5)
    shipped(world, world.root / "fleet")
    shutil.copytree(world.root / "fleet", world.root / "copy")
    assert len(world.command("log", "--from", str(world.root / "copy"), "--json").stdout.splitlines()) == 5
