"""A rehearsal: before it forks, the server makes a few test calls with a built-in rule in a temporary home. Everything
that Python and our modules create on first use (tables, patterns, specialised code) is then ready in every worker."""

from __future__ import annotations

import gc
import os
import shutil
import socket
import sys
from time import monotonic, sleep, time_ns

from anyhook.engine.bridge import read, with_self_protection
from anyhook.engine.engine import EngineOptions, open_engine
from anyhook.engine.receive import project_of
from anyhook.engine.routes import catalog_of
from anyhook.extra.warm.hot_pages import hot_pages
from anyhook.extra.warm.likeness import Likeness
from anyhook.extra.warm.messages import CALL, Message, receive_request, receive_streams, send_request, send_streams
from anyhook.extra.warm.place import read_at_start
from anyhook.extra.warm.warm_python import Interpreters, task_of
from anyhook.extra.warm.worker import open_streams
from anyhook.model import lean_json
from anyhook.model.call import Call
from anyhook.state.plans import SETTLED_NS, Setup, read_plan
from anyhook.tables.registry import HOSTS, host

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from anyhook.extra.warm.hot_pages import Span
    from anyhook.model.json_types import Json
    from anyhook.tables.host_rows import Host, HostEvent

NOBODY = Interpreters("/", "none", 0)
TURNS = 12
"""Python specialises code that has run eight times."""
RULE = """
[[rule]]
name = "rehearsal"
when = "event pre_tool"
then = "deny"
run = "echo '{}'"
"""


def prepare(folder: str) -> None:
    """Create the temporary home. A plan is stored only if its files are not brand new, so this is done early."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
        for each in (f"{folder}/project", f"{folder}/.config/anyhook"):
            os.makedirs(each, 0o700)
        with open(f"{folder}/.config/anyhook/hooks.toml", "w") as file:
            file.write(RULE)
    except OSError:
        return  # then there is no rehearsal


def rehearse(folder: str, stand_in: Callable[[int], None]) -> list[Span]:
    """Rehearse in `folder`, which is prepared, and deleted here. Returns the memory pages that a call writes to (see
    hot_pages.py), or none if a rehearsal is not possible: calls are then slower, and each reports what is wrong."""
    project, settings = f"{folder}/project", f"{folder}/.config/anyhook"
    env = {"HOME": folder, "PATH": os.defpath}
    table = host(HOSTS[0])
    row = next(row for row in table.events if "pre_tool" in row.canonical)
    try:
        age_ns = time_ns() - os.stat(f"{settings}/hooks.toml").st_mtime_ns
        sleep(max(2 * SETTLED_NS - age_ns, 0) / 1e9)
        for turn in range(TURNS):
            _call(table, row, _payload(project, turn), env)
            _transfer()
            line = f"{sys.executable} {settings}/hooks.toml"
            task_of(NOBODY, Call(("/bin/bash", "-c", line), b"", env, project, 1.0, ""))
        gc.collect()
        gc.freeze()  # garbage collection in a worker must not touch (and copy) our pages
        gc.disable()
        words = ["anyhook", "bridge", table.name, row.native]
        return hot_pages(lambda end: _whole(words, _payload(project, TURNS), env, stand_in, end))
    except Exception:  # noqa: BLE001
        return []
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _payload(project: str, turn: int) -> bytes:
    called: dict[str, Json] = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": f"{turn}"}
    return lean_json.dumps({"session_id": "s", "cwd": project, **called}).encode()


def _whole(
    words: list[str], payload: bytes, env: dict[str, str], stand_in: Callable[[int], None], end: Callable[[], None]
) -> None:
    """In a fork: a call as a worker serves it."""
    stdin, nowhere = os.memfd_create("stdin"), os.open(os.devnull, os.O_RDWR)
    os.write(stdin, payload)
    os.lseek(stdin, 0, os.SEEK_SET)
    for number, descriptor in enumerate((stdin, nowhere, nowhere)):
        os.dup2(descriptor, number)
    os.environ.clear()
    os.environ.update(env)
    _transfer()
    open_streams()
    os._exit = lambda _: end()  # type: ignore[assignment,return-value]
    sys.argv = words
    stand_in(os.getpid())


def _call(table: Host, row: HostEvent, payload: bytes, env: dict[str, str]) -> None:
    """As `anyhook bridge` does it, without an agent."""
    incoming = read(table, row, payload, monotonic(), env)
    setup = Setup.of(project_of(table, incoming.payload, env), env)
    plan = read_plan(setup)
    incoming = with_self_protection(incoming, setup.env, setup.project, plan.stamps if plan is not None else None)
    options = EngineOptions(setup, one_shot=True, serves=table)
    open_engine(options, catalog_of(plan, setup)).bridge(table.name, row.native, incoming)


def _transfer() -> None:
    """A request, and the check of its sender."""
    ours, theirs = socket.socketpair()
    with ours, theirs, open(os.devnull, "rb") as nothing:
        send_request(ours, Message(CALL, [b"anyhook"], [b"%b=%b" % item for item in os.environb.items()]))
        receive_request(theirs)
        send_streams(ours, nothing.fileno())
        for descriptor in receive_streams(theirs):
            os.close(descriptor)
    read_at_start(dict(os.environb))
    Likeness(os.getpid())
