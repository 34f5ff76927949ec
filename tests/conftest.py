"""A separate world for each test: a home, a project, and hooks of every dialect in both."""

from __future__ import annotations

import gc
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, settings

from anyhook import Engine
from anyhook.documents import edit
from anyhook.documents.parse import syntax_of
from anyhook.engine.catalog import pinned, read
from anyhook.platform.run import prctl
from anyhook.platform.spawn import here
from anyhook.platform.store import KINDS
from anyhook.state.ledger import Ledger
from anyhook.state.plans import Setup
from anyhook.tables.registry import dialect
from anyhook.tables.schema import declared
from command import as_text, run, servers, share_server
from warm_box import Door, built

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anyhook.model.json_types import Json
    from anyhook.model.words import Trust

# No property is about time: on a busy machine a slow example is not wrong. `make test` uses the same examples every
# time; `make test-all` looks for new ones.
_always = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None)
settings.register_profile("house", _always, derandomize=True, max_examples=25)
settings.register_profile("search", _always)
settings.register_profile("fuzz", _always, max_examples=1000)
settings.load_profile("house")


GROUPED = {
    "kodik": ("Documents/Kodik/Hooks/hooks.json", ".kodik/hooks/hooks.json"),
    "claude": (".claude/settings.json", ".claude/settings.json"),
    "codex": (".codex/hooks.json", ".codex/hooks.json"),
    "gemini": (".gemini/settings.json", ".gemini/settings.json"),
    "qwen": (".qwen/settings.json", ".qwen/settings.json"),
    "goose": (".agents/plugins/it/hooks/hooks.json", ".agents/plugins/it/hooks/hooks.json"),
}
"""Files with a list of groups under each event: the user's and the project's."""

RECORDS = {
    "trust.json": "approvals", "approved": "copies of what is approved, while it is",
    "switches.json": "what is turned off and on", "installs": "our entries in agents, and what their files had before",
    "entries": "one file for each agent with our entry", "compiled": "compiled Python of approved hooks",
    "start-variables.json": "digests of a person's own variables that change what hooks run",
    "journal": "the journal and its indexes, which have bounds of their own", "imported": "imported journal",
    "backtest.sqlite": "results about the journal's events",
    "ship": "the name of this machine, and what each destination of `anyhook ship` has",
    "agent": "what was typed in the chat, and files for /undo while the chat runs",
}  # fmt: skip
"""What else is in the state folder, by how its name begins: records that must not be lost, so they have no lifetime and
end with what they are about."""


class World:
    """A user's home and a project, empty at first."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home, self.project = root / "home", root / "project"
        self.home.mkdir(parents=True)
        self.project.mkdir()
        self.env = {
            "HOME": str(self.home),
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "XDG_STATE_HOME": str(self.home / "state"),
        }
        self._lists: dict[str, dict[str, list[Json]]] = {}

    @property
    def state(self) -> Path:
        """Where anyhook keeps its own files."""
        return self.home / "state" / "anyhook"

    def unlisted(self) -> list[str]:
        """Names in the state folder that have neither a lifetime nor a reason to have none."""
        try:
            names = os.listdir(self.state)
        except OSError:
            return []
        listed = (*RECORDS, "history", "ledger.json")  # the last two are written by tests
        return [name for name in names if name not in KINDS and not name.lstrip(".").startswith(listed)]

    def write(self, path: Path, text: str, mode: int = 0o644) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    def config(self, text: str) -> None:
        """The user's config.toml."""
        self.write(self.home / "config" / "anyhook" / "config.toml", text)

    def hook(self, table: str, native: str, script: str, scope: str = "user", name: str = "it", **more: Json) -> None:
        """Declare one command hook that runs a shell script."""
        base = self.home if scope == "user" else self.project
        if table == "anyhook":
            path = base / ("config/anyhook" if scope == "user" else ".anyhook") / "hooks.toml"
            rule = {"name": name, "when": f"event {native}", "then": "deny", "run": script, **more}
            lines = [f"{key} = {json.dumps(value)}" for key, value in rule.items()]
            before = path.read_text() if path.exists() else ""
            self.write(path, before + "\n".join(["[[rule]]", *lines, "", ""]))
        elif table == "kode":
            path = base / ("config/kode" if scope == "user" else ".kode") / "config.yaml"
            self.declare(path, native, {"exec": ["/bin/sh", "-c", script], **more})
        elif table in GROUPED:
            path = base / GROUPED[table][0 if scope == "user" else 1]
            self.declare(path, native, {"hooks": [{"type": "command", "command": script, **more}]})
        elif table == "copilot":
            path = base / (".copilot/hooks" if scope == "user" else ".github/hooks") / "a.json"
            self.declare(path, native, {"type": "command", "bash": script, **more}, {"version": 1})
        elif table == "kolega":
            command = f"/bin/sh -c {shlex.quote(script)}"
            self.kolega(native, {"type": "command", "command": command, **more}, scope)
        elif table == "agenthooks":
            folder = base / ("config/agents/hooks" if scope == "user" else ".agents/hooks") / name
            fields = {"name": name, "description": "A test.", "trigger": native, **more}
            front = "\n".join(f"{key}: {json.dumps(value)}" for key, value in fields.items())
            self.write(folder / "HOOK.md", f"---\n{front}\n---\n")
            self.write(folder / "scripts" / "run", f"#!/bin/sh\n{script}\n", 0o755)
        elif table == "cline":
            places = (".cline/hooks", "Documents/Cline/Hooks" if scope == "user" else ".clinerules/hooks")
            place = next((place for place in places if not (base / place / native).exists()), places[-1])
            self.write(base / place / native, f"#!/bin/sh\n{script}\n", 0o755)
        elif table == "kodelet":
            text = f'#!/bin/sh\nif [ "$1" = hook ]; then echo {native}; exit; fi\n{script}\n'
            self.write(base / ".kodelet" / "hooks" / name, text, 0o755)
        else:
            self._by_scaffold(table, native, script, scope, name, more)

    def _by_scaffold(self, table: str, native: str, script: str, scope: str, name: str, more: dict[str, Json]) -> None:
        """Declare a hook of any dialect that lists its hooks in a file, as the dialect's table says."""
        row = dialect(table)
        written = row.scaffold
        assert written is not None
        assert written.shape in ("list", "groups", "rows")
        roots = self.setup().roots(())
        source = next(source for source in row.find(roots) if source.scope == scope)
        path = Path(source.path, *written.declared_in[:1])
        known = len([*(self.root / "scripts").glob(f"{table}-{scope}-{name}*")])
        number = f"-{known + 1}" if known else ""
        program = self.root / "scripts" / f"{table}-{scope}-{name}{number}"
        if Path(script).is_file():
            program = Path(script)
        else:
            self.write(program, f"#!/bin/sh\n{script}\n", 0o755)
        text = path.read_text() if path.exists() else ""
        syntax = syntax_of(str(path), text)
        if not text and written.top and syntax == "json":
            text = json.dumps(written.top)
        place = written.under if written.shape == "rows" else (*written.under, native)
        entry = declared(written, native, str(program))
        handlers = entry.get("hooks")
        inner = handlers[0] if isinstance(handlers, list) else entry
        assert isinstance(inner, dict)
        inner.update(more)
        self.write(path, edit.append(text, syntax, place, entry))

    def kolega(self, native: str, handler: dict[str, Json], scope: str = "user", matcher: str | None = None) -> None:
        base = self.home / "state" / "kolega-code" if scope == "user" else self.project / ".kolega"
        group: dict[str, Json] = {"hooks": [handler]}
        if matcher is not None:
            group["matcher"] = matcher
        self.declare(base / "hooks.json", native, group, {"schema_version": 1})

    def declare(self, path: Path, native: str, entry: Json, top: dict[str, Json] | None = None) -> None:
        """Add an entry to a file that lists them by event."""
        lists = self._lists.setdefault(str(path), {})
        lists.setdefault(native, []).append(entry)
        self.write(path, json.dumps({**(top or {}), "hooks": lists}))

    def module(self, name: str, text: str, folder: Path | None = None) -> None:
        """A python module in the project, or elsewhere."""
        self.write((folder or self.project) / f"{name}.py", text)

    def engine(
        self,
        *,
        dialects: Sequence[str] = (),
        trust: str = "ask",
        on_failure: str | None = None,
        mode: str | None = "enforce",
        session: str | None = None,
        plugin_dirs: Sequence[str] = (),
    ) -> Engine:
        return Engine.open(
            self.project,
            env=self.env,
            dialects=dialects,
            trust=trust,
            on_failure=on_failure,
            mode=mode,
            session=session,
            plugin_dirs=plugin_dirs,
        )

    def command(self, *words: str, stdin: str = "", cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """The command, as a person calls it in the project or in another folder."""
        given = stdin.encode("utf-8", "surrogateescape")
        return as_text(run(words, env=self.env, cwd=cwd or self.project, stdin=given))

    def fire(self, *words: str) -> dict[str, Any]:
        done = self.command("fire", *words, "--json")
        assert done.returncode in (0, 2), done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def setup(self, trust: Trust = "ask") -> Setup:
        return Setup.of(str(self.project), self.env, trust=trust)

    def approve(self) -> None:
        """The user approves everything in the project."""
        loaded = read(self.setup())
        mine = [
            (dialect(name), layer)
            for name, layers in loaded.layers.items()
            for layer in layers
            if layer.source.scope == "project"
        ]
        waiting = [pinned(hook, table, loaded.roots, loaded.files)[0] for table, layer in mine for hook in layer.hooks]
        Ledger(str(self.state)).approve(str(self.project.resolve()), waiting, {})

    def journal(self) -> list[dict[str, Any]]:
        path = self.state / "journal.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Whatever a test does, our state folder then has only what the store's tables list. An earlier test may have made
    this process one that adopts orphans, and kills them; here it is an ordinary one again."""
    if here.is_ours and sys.platform == "linux":
        prctl(36, 0)
    here.is_ours, here.at_first = False, None
    made = World(tmp_path)
    yield made
    assert made.unlisted() == []


@pytest.fixture(scope="session")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The native launcher, built for these tests."""
    return built(tmp_path_factory.mktemp("bin"))


@pytest.fixture
def door(launcher: Path, world: World) -> Iterator[Door]:
    """An installation with its own warm server, which ends with the test."""
    found = Door(launcher, world)
    yield found
    found.stop()


SLOW = (
    "test_agent_command", "test_agent_ends", "test_agent_killed", "test_agent_wire", "test_model_handlers",
    "test_agent_load", "test_chat", "test_chat_hooks", "test_backtest", "test_serve", "test_page", "test_watch",
    "test_page_answers", "test_shadow", "test_verb_test", "test_verb_record",
)  # fmt: skip
"""Whole programs that load an agent framework, a cluster or a browser again and again; for `make test-all`."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cold", action="store_true", help="start the command anew for every call, as a person does")
    parser.addoption("--once", action="store_true", help="of a test with many cases, run the first only")


def pytest_configure(config: pytest.Config) -> None:
    """A shell starts its background jobs with Ctrl-C ignored, and everything started here would inherit that. Python
    starts as people start it: unbuffered output would hide what is lost without it."""
    servers.is_cold = bool(config.getoption("cold"))
    if config.getoption("numprocesses", None):  # not in a worker
        config.add_cleanup(share_server())
    for name in ("PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"):
        os.environ.pop(name, None)
    os.environ["ANYHOOK_WARM"] = "off"  # no test leaves a server behind; the server's own tests turn it on
    python3 = os.path.dirname(os.path.realpath(sys.executable))
    if os.path.dirname(shutil.which("python3") or "") != python3:  # version managers put their own script there first
        os.environ["PATH"] = f"{python3}{os.pathsep}{os.environ['PATH']}"
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGQUIT, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import the slow tests if they are not wanted."""
    return True if collection_path.stem in SLOW and config.getoption("markexpr") == "not slow" else None


def pytest_collection_modifyitems(items: list[pytest.Item], config: pytest.Config) -> None:
    """Tests that only wait come first and go to one worker, while the others work."""
    if config.getoption("once"):
        first = {item.nodeid.partition("[")[0]: item for item in reversed(items)}
        items[:] = [item for item in items if first[item.nodeid.partition("[")[0]] is item]
    items.sort(key=lambda item: item.get_closest_marker("waits") is None)
    for item in items:
        if item.path.stem in SLOW:
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """A worker reports only what can be news: that a test was set up and torn down is not, and each report costs more
    than a short test."""
    if not hasattr(item.config, "workerinput"):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def pytest_collection() -> None:
    """Collecting tests leaves no garbage, and searching for it takes a quarter of the time."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Keep the garbage collector from scanning the tests themselves."""
    gc.freeze()
    gc.enable()
