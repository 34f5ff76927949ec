"""Every vector against the command, and the suite itself: its coverage, its loader, and that its vectors can fail."""

from __future__ import annotations

import itertools
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import Path as InZip
from zipfile import ZipFile

import pytest

from anyhook.extra.testing.conformance import runner
from anyhook.extra.testing.conformance.runner import VectorResult, conform, run_vector
from anyhook.extra.testing.conformance.vectors import DEFERRED_FILE, HERE, Vector, load_suite, read_vector
from command import CORE, LIMIT_S, MODELS, call_of_a_vector, servers

if TYPE_CHECKING:
    from anyhook.model.json_types import Json

SUITE = load_suite()


FIRST = {vector.source.split("/")[-1]: vector.id for vector in reversed(SUITE.all())}
"""The first vector of each topic."""


def asks(vector: Vector) -> bool:
    """Whether it needs a model server. All these vectors share one port."""
    return "python:pydantic_ai" in vector.needs


def waits(vector: Vector) -> bool:
    """Whether it mostly sleeps, for up to the 30 s that a document names, and uses hardly any CPU time."""
    return asks(vector) or "sleep" in json.dumps(vector.raw)


def judge(vector: Vector) -> VectorResult:
    """Run a vector. The first one of each topic runs newly started commands; with `--cold`, all do."""
    caller = None
    if not servers.is_cold and vector.id not in FIRST.values():
        caller = call_of_a_vector(MODELS if asks(vector) else CORE)
    return run_vector(vector, step_limit_s=LIMIT_S, caller=caller)


class Waiting:
    """Runs all of this session's waiting vectors in parallel; those that share a port run one after the other."""

    def __init__(self, vectors: Sequence[Vector]) -> None:
        self._pools = ThreadPoolExecutor(max_workers=8), ThreadPoolExecutor(max_workers=1)
        self._results = {vector.id: self._pools[asks(vector)].submit(judge, vector) for vector in vectors}
        for pool in self._pools:
            pool.shutdown(wait=False)  # so that no thread outlives its work: other tests count threads

    def result(self, vector: Vector) -> VectorResult:
        return self._results[vector.id].result()

    def end(self) -> None:
        for pool in self._pools:
            pool.shutdown(cancel_futures=True)


@pytest.fixture(scope="session")
def waiting(request: pytest.FixtureRequest) -> Iterator[Waiting]:
    """The waiting vectors that this session was asked to run."""
    named = {item.name for item in request.session.items}
    made = Waiting([vector for vector in SUITE.all() if f"test_vector_that_waits[{vector.id}]" in named])
    yield made
    made.end()


@pytest.mark.waits
@pytest.mark.timeout(0)  # its own limits apply, and it waits for its turn
@pytest.mark.parametrize("vector", [*filter(waits, SUITE.all())], ids=lambda vector: vector.id)
def test_vector_that_waits(vector: Vector, waiting: Waiting) -> None:
    check(vector, waiting.result(vector))


@pytest.mark.parametrize("vector", [*itertools.filterfalse(waits, SUITE.all())], ids=lambda vector: vector.id)
def test_vector(vector: Vector) -> None:
    check(vector, judge(vector))


def check(vector: Vector, result: VectorResult) -> None:
    if result.skipped_reason is not None:
        pytest.skip(result.skipped_reason)
    assert result.passed, "\n".join([f"{vector.source}: {vector.title}", *result.failures])


def test_the_suite_has_no_errors() -> None:
    assert SUITE.errors == ()


def test_every_row_is_shown_or_deferred_with_a_reason() -> None:
    assert set(SUITE.vectors) == set(SUITE.rows), "a dialect without vectors, or vectors without rows"
    for name, rows in SUITE.rows.items():
        shown = {row for vector in SUITE.all() for row in vector.rows}
        path = HERE / "vectors" / name / DEFERRED_FILE
        deferred = json.loads(path.read_text()) if path.exists() else {}
        assert rows.keys() - shown == deferred.keys(), f"{name}: these rows have neither or both"
        assert all(reason.strip() for reason in deferred.values()), name


@pytest.mark.slow
@pytest.mark.parametrize("dialect", SUITE.vectors)
@pytest.mark.parametrize("always", ["echo '{}'", "echo Traceback >&2; exit 1"], ids=["empty", "crash"])
def test_every_vector_can_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, always: str, dialect: str) -> None:
    """A command that always gives the same answer passes no vector: each one expects something specific."""
    monkeypatch.setattr(runner, "POLL_LIMIT_S", 0.0)
    command = shell(tmp_path, always)
    assert [vector.id for vector in SUITE.vectors[dialect] if run_vector(vector, command).passed] == []


# The tests below need no implementation: small scripts stand in for the command.


def shell(folder: Path, script: str) -> list[str]:
    """Write this shell script; returns the command that runs it."""
    path = folder / "fake.sh"
    path.write_text(script)
    return ["/bin/sh", str(path)]


def python(folder: Path, script: str) -> list[str]:
    """Write this Python script; returns the command that runs it."""
    path = folder / "fake.py"
    path.write_text(script)
    return [sys.executable, str(path)]


def vector_of(**parts: Json) -> dict[str, Json]:
    return {"id": "v", "rows": ["R-1"], "title": "t", "steps": [{"run": ["fire"], "exit": 0}], **parts}


def run(command: Sequence[str], **parts: Json) -> list[str]:
    """Run one vector; returns its failures."""
    result = run_vector(read_vector(vector_of(**parts), "d/t.json"), command)
    assert result.passed == (not result.failures)
    assert result.skipped_reason is None
    return result.failures


def expecting(**expect: Json) -> list[Json]:
    return [{"run": ["fire"], **expect}]


CANNED = """echo '{"verdict": "none", "hooks": [{"status": "ran"}]}'; echo talk >&2; exit 2"""


@pytest.mark.parametrize(
    ("expect", "said"),
    [
        ({"exit": 0}, "exit: expected 0, got 2"),
        ({"exit": 2, "json": {"verdict": "block"}}, '$.verdict: expected "block", got "none"'),
        ({"json": {"hooks": [{"status": "skipped"}]}}, '$.hooks[0].status: expected "skipped", got "ran"'),
        ({"json": {"reason": None}}, "$.reason: expected null, got no such key"),
        ({"stdout": {"$not": {"$has": "verdict"}}}, "stdout: expected anything but"),
        ({"stderr": "talk"}, 'stderr: expected "talk", got "talk\\n"'),
    ],
)
def test_a_wrong_answer_is_told_with_its_place(tmp_path: Path, expect: dict[str, Json], said: str) -> None:
    (failure,) = run(shell(tmp_path, CANNED), steps=expecting(**expect))
    assert failure.startswith("v [R-1] step 1 (fire): ")
    assert said in failure
    assert failure.endswith("stderr ends with:\n    talk")


def test_the_right_answer_passes(tmp_path: Path) -> None:
    expect: dict[str, Json] = {"exit": 2, "json": {"verdict": "none"}, "stderr": "talk\n", "stdout": {"$has": "ran"}}
    assert run(shell(tmp_path, CANNED), steps=expecting(**expect)) == []


@pytest.mark.parametrize("said", ["", "{} {}", "text", '{"a": NaN}'])
def test_output_that_is_not_one_json_value(tmp_path: Path, said: str) -> None:
    (failure,) = run(shell(tmp_path, f"echo '{said}'"), steps=expecting(json={}))
    assert "stdout is not one JSON value" in failure


def test_a_command_that_cannot_be_started(tmp_path: Path) -> None:
    (failure,) = run([str(tmp_path / "nowhere")])
    assert "could not be started" in failure


def test_later_steps_are_not_taken_after_a_failure(tmp_path: Path) -> None:
    steps: list[Json] = [{"run": ["list"], "exit": 1}, {"sh": f"touch {tmp_path}/taken"}]
    assert len(run(shell(tmp_path, "true"), steps=steps)) == 1
    assert not (tmp_path / "taken").exists()


def test_files_and_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "POLL_LIMIT_S", 0.0)
    command = shell(tmp_path, """echo '{"a": 1}' | tee seen > seen.json; echo x > "$HOME/log" """)
    files: dict[str, Json] = {"project/seen.json": {"json": {"a": 1}}, "home/log": {"text": {"$has": "x"}}}
    assert run(command, files=files, absent=["project/other", "plugin/x"]) == []
    wrong: dict[str, Json] = {
        "project/seen.json": {"json": {"a": 2}},
        "home/log": {"text": "y"},
        "home/no": {"text": ""},
    }
    failures = run(command, files=wrong, absent=["project/seen"])
    places = [failure.split("afterwards: ")[1].split(":")[0].split("<")[0] for failure in failures]
    assert places == ["project/seen", "project/seen.json", "home/log", "home/no"]
    assert "got no such file" in failures[-1]


def test_a_file_that_is_not_there_is_no_file_without_a_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "POLL_LIMIT_S", 0.0)
    (failure,) = run(shell(tmp_path, "true"), files={"home/log": {"text": {"$not": {"$has": "x"}}}})
    assert "got no such file" in failure


def test_a_file_that_comes_late_is_waited_for(tmp_path: Path) -> None:
    command = shell(tmp_path, "(sleep 0.3; echo late > late) >/dev/null 2>&1 &")
    assert run(command, files={"project/late": {"text": "late\n"}}) == []


REPORT = """
import json, os, sys
print(json.dumps({"argv": sys.argv[1:], "env": dict(os.environ), "cwd": os.getcwd(), "stdin": sys.stdin.read()}))
"""


def test_the_environment_is_clean_and_the_names_are_filled_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "1")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    seen: dict[str, Json] = {
        "cwd": "{project}",
        "stdin": "{home} {python}",
        "argv": ["fire", "--project", "{project}", "{plugin}"],
        "env": {"$all": [{"HOME": "{home}", "A": "{plugin}/a"}, {"$not": {"$has": "LANG"}}]},
    }
    steps: list[Json] = [{"run": ["fire", "{plugin}"], "stdin": "{home} {python}", "json": seen}]
    command = python(tmp_path, REPORT)
    assert run(command, env={"A": "{plugin}/a", "LANG": None}, steps=steps) == []
    names: Json = {"env": {"$all": [{"$has": "PATH"}, {"$not": {"$has": "SECRET"}}, {"$not": {"$has": "PYTHONPATH"}}]}}
    assert run(command, steps=[{"run": ["list"], "json": names}]) == []
    assert "$.cwd" in run(command, steps=[{"run": ["list"], "json": {"cwd": "{home}"}}])[0]


@pytest.mark.parametrize(
    ("argv", "becomes"),
    [
        (["list", "--json"], ["list", "--project", "{project}", "--json"]),
        (["fire", "x", "--project", "{home}"], ["fire", "x", "--project", "{home}"]),
        (["check", "--project={home}"], ["check", "--project={home}"]),
        (["dialects", "--json"], ["dialects", "--json"]),
    ],
)
def test_the_project_is_named_where_the_step_does_not(tmp_path: Path, argv: list[Json], becomes: list[Json]) -> None:
    steps: list[Json] = [{"run": argv, "json": {"argv": becomes}}]
    assert run(python(tmp_path, REPORT), steps=steps) == []


def test_layout_and_steps_between(tmp_path: Path) -> None:
    parts: dict[str, Json] = {
        "home": {"deep/er/script": {"text": "#!/bin/sh\necho $0\n", "mode": "755"}, "link": {"link": "deep"}},
        "project": {"kept": "old", "dir": {"dir": True}},
        "steps": [
            {"sh": "test -d dir && test -x ../home/link/er/script && test ! -x kept"},
            {"write": {"project/kept": "new", "plugin/made/here": "x"}},
            {"sh": "mv made moved", "in": "plugin"},
            {"run": ["list"], "stdout": "new"},
        ],
        "files": {"plugin/moved/here": {"text": "x"}},
    }
    assert run(shell(tmp_path, "cat kept"), **parts) == []


def test_a_shell_step_has_to_succeed(tmp_path: Path) -> None:
    steps: list[Json] = [{"sh": "exit 7"}, {"run": ["list"], "exit": 0}]
    (failure,) = run(shell(tmp_path, "true"), steps=steps)
    assert "step 1 (sh exit 7): exit: expected 0, got 7" in failure


def test_a_missing_program_skips(tmp_path: Path) -> None:
    vector = read_vector(vector_of(needs=["sh", "no-such-program"]), "d/t.json")
    result = run_vector(vector, shell(tmp_path, "true"))
    assert (result.passed, result.skipped_reason, result.failures) == (False, "needs no-such-program", [])


needs_proc = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")


@needs_proc
def test_at_the_limit_the_process_group_is_killed(tmp_path: Path) -> None:
    command = shell(tmp_path, f"sleep 600 & echo $! > {tmp_path}/new; mv {tmp_path}/new {tmp_path}/pid; wait")
    limit_s = 0.25
    while not (tmp_path / "pid").exists():  # a busy machine may need longer to get this far
        limit_s *= 2
        result = run_vector(read_vector(vector_of(), "d/t.json"), command, step_limit_s=limit_s)
        assert "did not end" in result.failures[0]
    assert ends(int((tmp_path / "pid").read_text()))


@needs_proc
def test_what_a_vector_left_running_is_ended(tmp_path: Path) -> None:
    script = f"""
import os, subprocess
child = subprocess.Popen(["sleep", "600"], start_new_session=True, cwd="/",
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
open({str(tmp_path / "pid")!r}, "w").write(str(child.pid))
os._exit(0)
"""
    assert run(python(tmp_path, script)) == []
    assert ends(int((tmp_path / "pid").read_text()))


def ends(pid: int) -> bool:
    """Whether the process ends soon. A zombie counts as ended."""
    for _ in range(100):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def test_nothing_is_left_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temp"))
    (tmp_path / "temp").mkdir()
    steps: list[Json] = [
        {"sh": "mkdir -p a/b/c && touch a/b/c/d && ln -s / a/root && chmod 000 a/b/c a/b a"},
        {"run": ["list"], "exit": 0},
    ]
    assert run(shell(tmp_path, "true"), project={"shut": {"dir": True, "mode": "000"}}, steps=steps) == []
    assert list((tmp_path / "temp").iterdir()) == []


def test_a_layout_that_contradicts_itself_is_a_failure(tmp_path: Path) -> None:
    (failure,) = run(shell(tmp_path, "true"), project={"a": "text", "a/b": "text"})
    assert failure.startswith("v [R-1] on disk: ")


# Loading.

ROWS = {"d": {"R-1": "first", "R-2": "second", "R-3": "third"}, "e": {"S-1": "other"}}


def suite_at(folder: Path, files: Mapping[str, object]) -> Path:
    """A suite in which each dialect of `ROWS` that has files has its rows too."""
    rows = {f"{name}/rows.json": ROWS[name] for name in ROWS if any(path.startswith(f"{name}/") for path in files)}
    (folder / "suite").mkdir(exist_ok=True)
    for name, content in {**rows, **files}.items():
        path = folder / "suite" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return folder / "suite"


BROKEN: list[tuple[str, Mapping[str, object], str]] = [
    ("unknown key", vector_of(expect=1), "d/t.json: v: there is no key `expect` here"),
    (
        "unknown key of a step",
        vector_of(steps=[{"run": ["a"], "status": 1}]),
        "v: step 1: there is no key `status` here",
    ),
    (
        "unknown operator",
        vector_of(steps=expecting(json={"a": {"$is": 1}})),
        "v: step 1: json.a: unknown operator",
    ),
    (
        "operator of files",
        vector_of(files={"home/a": {"text": {"$is": 1}}}),
        "v: files: home/a: text: unknown operator",
    ),
    ("unknown row", vector_of(rows=["R-1", "R-9"]), "d/t.json: v: unknown row R-9"),
    ("no rows", vector_of(rows=[]), "v: the vector has no `rows`"),
    ("no title", vector_of(title=""), "v: the vector has no `title`"),
    ("no id", vector_of(id=None), "d/t.json: a vector without id: `id` takes a text, not null"),
    ("no steps", vector_of(steps=[]), "v: `steps` takes a list of mappings"),
    ("two kinds of step", vector_of(steps=[{"run": ["a"], "sh": "b"}]), "v: step 1: it should have exactly one of"),
    ("no verb", vector_of(steps=[{"run": []}]), "v: step 1: `run` is empty"),
    (
        "nothing expected",
        vector_of(steps=[{"run": ["a"]}], absent=["home/a"]),
        "v: it has no expectation of the command",
    ),
    ("bad room", vector_of(steps=[{"sh": "a", "in": "tmp"}]), "v: step 1: `in` is one of"),
    ("path without room", vector_of(absent=["a"]), "v: 'a' should begin with project/"),
    ("path out of the room", vector_of(absent=["home/../a"]), "v: 'home/../a' should begin"),
    ("absolute path", vector_of(home={"/a": ""}), "v: home: '/a' should be a path inside"),
    ("bad mode", vector_of(home={"a": {"text": "", "mode": 755}}), "v: home: a: mode should be octal digits"),
    (
        "two kinds of entry",
        vector_of(home={"a": {"text": "", "link": "b"}}),
        "v: home: a: should be a text, a link",
    ),
    ("there and not there", vector_of(files={"home/a": {"text": ""}}, absent=["home/a"]), "is expected under `files`"),
    ("bad variable", vector_of(env={"A": 1}), "v: `A` under `env` takes a text"),
    ("bad stdin", vector_of(steps=[{"run": ["a"], "exit": 0, "stdin": 1}]), "v: step 1: `stdin` takes a text"),
]


@pytest.mark.parametrize(("vector", "said"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN])
def test_a_broken_vector_is_one_error_alone(tmp_path: Path, vector: Mapping[str, object], said: str) -> None:
    suite = load_suite(suite_at(tmp_path, {"d/t.json": [vector, vector_of(id="neighbour")]}))
    assert [loaded.id for loaded in suite.all()] == ["neighbour"]
    (error,) = suite.errors
    assert said in error


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"d/t.json": [vector_of()], "e/u.json": [vector_of()]}, "e/u.json: v: the id is already in d/t.json"),
        ({"d/t.json": "[{]"}, "d/t.json: cannot be read as JSON"),
        ({"d/t.json": '[{"id": "v", "id": "w"}]'}, "d/t.json: cannot be read as JSON: key 'id' appears twice"),
        ({"d/t.json": {}}, "d/t.json: should be a list"),
        ({"d/t.json": []}, "d/t.json: should be a list with vectors in it"),
        ({"d/t.json": ["v"]}, "d/t.json: a vector without id: a vector is an object, not text"),
        ({"d/notes.txt": ""}, "d: an empty folder"),
        ({"d/deferred.json": {"R-1": "later"}}, "d: an empty folder"),
        ({}, "an empty directory"),
        ({"d/t.json": [vector_of(rows=["K-1"])], "d/rows.json": "["}, "d/rows.json: should map each row"),
    ],
)
def test_a_broken_folder_is_one_error(tmp_path: Path, files: Mapping[str, object], said: str) -> None:
    errors = load_suite(suite_at(tmp_path, files)).errors
    assert said in errors[0]
    assert len(errors) == 1 or "rows.json" in files


def test_a_directory_that_is_not_there_and_a_dialect_that_is_not_in_it(tmp_path: Path) -> None:
    assert "no such directory" in load_suite(tmp_path / "none").errors[0]
    suite = load_suite(suite_at(tmp_path, {"d/t.json": [vector_of()]}), ["x", "d"])
    assert suite.errors == (f"{tmp_path}/suite: no vectors for x; there are d",)
    assert [vector.id for vector in suite.all()] == ["v"]


def test_one_dialect_and_one_folder_can_be_chosen(tmp_path: Path) -> None:
    root = suite_at(tmp_path, {"d/t.json": [vector_of()], "e/t.json": [vector_of(id="w", rows=["S-1"])]})
    assert list(load_suite(root, ["e"]).vectors) == ["e"]
    own = suite_at(tmp_path, {"d/rows.json": ROWS["d"]}) / "d"
    assert [vector.id for vector in load_suite(own).all()] == ["v"]


def test_the_vectors_of_a_wheel_are_in_one_file(tmp_path: Path) -> None:
    root = suite_at(
        tmp_path,
        {"d/t.json": [vector_of()], "d/deferred.json": {"R-2": "later"}, "e/t.json": [vector_of(id="w", rows=["S-1"])]},
    )
    packed = tmp_path / "vectors.zip"
    with ZipFile(packed, "w") as file:
        for path in root.rglob("*.json"):
            file.write(path, path.relative_to(root))
    suite = load_suite(InZip(packed))
    assert suite == load_suite(root)
    assert (suite.errors, len(suite.all())) == ((), 2)


def test_conform_counts_and_says(tmp_path: Path) -> None:
    vectors = [
        vector_of(id="good"),
        vector_of(id="bad", steps=expecting(exit=1)),
        vector_of(id="skipped", needs=["no-such-program"]),
        vector_of(id="broken", rows=["R-9"]),
    ]
    said: list[str] = []
    root = suite_at(tmp_path, {"d/t.json": vectors})
    assert conform([], str(root), said.append, shell(tmp_path, "true")) == (1, 2, 1)
    assert said == [
        "error: d/t.json: broken: unknown row R-9",
        "failed: bad (d/t.json): t\n  bad [R-1] step 1 (fire): exit: expected 1, got 0",
        "skipped: skipped: needs no-such-program",
    ]


def test_conform_on_an_empty_directory_fails(tmp_path: Path) -> None:
    assert conform([], str(tmp_path), lambda _: None) == (0, 1, 0)
