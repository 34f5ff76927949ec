"""The journal as a local page: the page, its live rows, one record, figures per hook, and the calls that wait for a
person. It answers only on the loopback interface and only to requests with the token. All that it changes is to answer
such a call."""

from __future__ import annotations

import asyncio
import json
import signal
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import compare_digest
from threading import Event, Lock
from typing import TYPE_CHECKING

import uvicorn
from sse_starlette import EventSourceResponse, JSONServerSentEvent
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from anyhook.cli import BadCall
from anyhook.cli.journal_input import like, wanted_by
from anyhook.cli.view.approval_text import approval_lines
from anyhook.cli.view.record_text import span, tone
from anyhook.cli.view.rows import row_of, told_in_full
from anyhook.cli.view.text import visible
from anyhook.journal.machines import machines_in
from anyhook.journal.read import JournalLine
from anyhook.journal.run_index import known_runs
from anyhook.journal.search import Wanted, follow
from anyhook.journal.ship import said_by
from anyhook.journal.stats import TREND_STEPS, HookFigures, MachineFigures, figures, of_machines, span_of
from anyhook.model.json_types import Json, JsonView
from anyhook.state.approvals import Approvals, PersonsAnswer, Waiting, page_is_at

if TYPE_CHECKING:
    import socket

    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    Standing = Callable[[], tuple[bool, str]]

SHOWN = 500
"""How many of the newest records a page starts with."""
BATCH = 200
MAX_NOISY = 20
LOOK_S = 0.25
SECOND = 1_000_000_000
STREAMS = 64
"""More streams than a person with many windows needs."""
REQUEST_S = 10.0
"""A connection on which nothing whole is asked for so long is closed, so that nobody can take up all of them."""
CLOSING_S = 1
PAGE = "page.html"
WAITING_PAGE = "waiting.html"
OPEN_FILES = {"/waiting": WAITING_PAGE, "/waiting.js": "waiting.js"}
"""What anyone may read: it sends a browser that knows the secret address there."""
FILES = {
    WAITING_PAGE: "text/html", "waiting.js": "text/javascript", PAGE: "text/html", "page.css": "text/css",
    "page.js": "text/javascript", "page.svg": "image/svg+xml",
}  # fmt: skip
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",  # the address is the key
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
ELSEWHERE = "This page answers to 127.0.0.1 and localhost only.\n"
ANSWERS_OF_PAGE = ("allow", "session", "deny")
NO_TOKEN = "This address has no valid token. `anyhook serve` printed the whole address.\n"  # noqa: S105


class _PageStream(EventSourceResponse):
    """Rows for one page; `left` is called at the end, whether they were sent or not."""

    def __init__(self, left: Callable[[], None], rows: AsyncIterator[JSONServerSentEvent], ping: int) -> None:
        super().__init__(rows, ping=ping)
        self._on_left = left

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._on_left()


class Door:
    """Accepts requests that use one of this machine's own names and have the token; adds the headers to every answer.

    A page of another site can make a browser send requests here under its own name (DNS rebinding): the Host header
    shows that."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app, self._start = app, f"/{token}/".encode()
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        if port == 80:
            self._hosts |= {"127.0.0.1", "localhost"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        if scope["type"] != "http":
            return
        hosts = Headers(scope=scope).getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            await PlainTextResponse(ELSEWHERE, 403)(scope, receive, with_headers)
            return
        path = scope["path"].encode("utf-8", "surrogateescape")
        if scope["path"] in OPEN_FILES and scope["method"] == "GET":
            await _file(OPEN_FILES[scope["path"]])(scope, receive, with_headers)
            return
        if compare_digest(path + b"/", self._start):  # copied without its last character
            await RedirectResponse(self._start.decode())(scope, receive, with_headers)
            return
        if not compare_digest(path[: len(self._start)], self._start):
            await PlainTextResponse(NO_TOKEN, 401)(scope, receive, with_headers)
            return
        inside = path[len(self._start) - 1 :].decode("utf-8", "replace")
        await self._app({**scope, "path": inside, "raw_path": inside.encode()}, receive, with_headers)


def _file(name: str) -> Response:
    return Response((Path(__file__).parent / name).read_bytes(), media_type=FILES[name])


def _unknown() -> tuple[bool, str]:
    return False, ""


class PageApi:
    """The requests that the page makes."""

    def __init__(self, folder: str, standing: Standing, closed: str, index: str) -> None:
        """`closed` says why nobody can answer calls here; "" if a person can. `index` is the path of the journal's."""
        self._folder, self._standing, self._closed, self._index = folder, standing, closed, index
        self._of_many = bool(machines_in(folder))
        self._indexing = Lock()
        self._streams = 0

    async def file(self, request: Request) -> Response:
        name = request.path_params.get("name", PAGE)
        if name not in FILES:
            return PlainTextResponse("There is no such page.\n", 404)
        return _file(name)

    async def approvals(self, _request: Request) -> Response:
        """The calls that wait for a person, and why this page may not answer, if so."""
        found = await run_in_threadpool(Approvals(self._folder).waiting)
        return JSONResponse({"waiting": [_waiting(each) for each in found], "closed": self._closed})

    async def answer(self, request: Request) -> Response:
        """A person's answer to what this page has shown. The browser says which page it comes from."""
        origin = request.headers.get("origin")
        if origin is not None and origin != f"http://{request.headers['host']}":
            return PlainTextResponse(ELSEWHERE, 403)
        try:
            told = json.loads(await request.body())
            name, digest, answer = (told[field] for field in ("id", "digest", "answer"))
        except (ValueError, TypeError, KeyError):
            return JSONResponse({"taken": False, "why": "This is not an answer."}, 400)
        if self._closed or answer not in ANSWERS_OF_PAGE:
            return JSONResponse({"taken": False, "why": self._closed or "This is not an answer."}, 400)
        reply = PersonsAnswer(answer != "deny", "page", str(told.get("because") or ""), answer == "session")
        is_taken, why = await run_in_threadpool(_answer, Approvals(self._folder), str(name), str(digest), reply)
        return JSONResponse({"taken": is_taken, "why": why}, 200 if is_taken else 409)

    async def record(self, request: Request) -> Response:
        try:
            lines, line = await run_in_threadpool(told_in_full, self._folder, request.path_params["number"])
        except (LookupError, OSError) as error:
            return JSONResponse({"problem": str(error)}, 404)
        told = {
            "lines": lines,
            "tones": [*map(tone, lines)],
            "ago": _ago(line.at_ns),
            "like": like(line),
            "machine": line.machine,
        }
        return JSONResponse({**told, "json": _readable(line)})

    async def standing(self, _request: Request) -> Response:
        """Whether this folder is protected, and the line that says so."""
        try:
            held, line = await run_in_threadpool(self._standing)
        except Exception as error:  # noqa: BLE001 (the page goes on, and says what it does not know)
            held, line = False, f"Nobody can tell whether guards are off: {error}"
        return JSONResponse({"protected": held, "line": visible(line)})

    async def figures(self, request: Request) -> Response:
        try:
            wanted = wanted_by(request.query_params.get("q", ""))
        except BadCall as error:
            return JSONResponse({"problem": str(error)}, 400)
        try:
            return JSONResponse(await run_in_threadpool(self._figures, wanted))
        except (sqlite3.Error, OSError, ValueError, OverflowError) as error:  # the last two: impossible numbers
            return JSONResponse({"problem": f"The journal's index cannot be used: {error}"}, 503)

    def _figures(self, wanted: Wanted) -> dict[str, Json]:
        # Only one request at a time updates the index.
        with self._indexing, known_runs(self._folder, lambda _done, _all: None, wanted.since_ns, self._index) as runs:
            now = time.time_ns()
            found, (start, end) = figures(runs, wanted, now), span_of(runs, wanted, now)
            machines, noisy = of_machines(runs, wanted) if self._of_many else ([], [])
        rows = sorted(
            map(self._machine, machines), key=lambda row: not row["off_guards"] and row["protected"] is not False
        )
        note = [f"a bar is {span((end - start) / TREND_STEPS / 1e9).replace('.0 ', ' ')}"] if found else []
        if wanted.text is not None:
            note.append("whatever the text")
        return {
            "hooks": [*map(_card, found)], "told": _told(*found), "note": ", ".join(note), "from": start, "to": end,
            "machines": [*rows],
            "noisy": [{**each.as_dict(), "hook": visible(each.hook)} for each in noisy[:MAX_NOISY]],
        }  # fmt: skip

    def _machine(self, figures: MachineFigures) -> dict[str, Json]:
        """A row about one of many machines: its figures, and what it says about itself."""
        said = said_by(self._folder, figures.machine)
        versions = dict(said.agents)
        agents: list[Json] = [
            visible(f"{name} {versions.get(name, '')}".strip()) for name in sorted({*figures.agents, *versions})
        ]
        off: list[Json] = [*map(visible, said.off)]
        return {
            **figures.as_dict(), "ago": _ago(figures.last_ns), "agents": agents, "off_guards": off,
            "protected": said.protected, "anyhook": visible(said.anyhook),
        }  # fmt: skip

    async def events(self, request: Request) -> Response:
        """Rows as they come: `rows` for several at once, `ready` when all existing ones have been sent, `problem` for
        an invalid search."""
        if self._streams >= STREAMS:
            return PlainTextResponse("Too many pages are open.\n", 503)
        self._streams += 1  # before the first await, or many at once would all get in
        return _PageStream(self._left, self._events(request.query_params.get("q", "")), ping=15)

    def _left(self) -> None:
        self._streams -= 1

    async def _events(self, query: str) -> AsyncIterator[JSONServerSentEvent]:
        try:
            wanted = wanted_by(query)
        except BadCall as error:
            yield JSONServerSentEvent({"problem": str(error)}, event="problem")
            return
        gone = Event()
        more, ready = follow(self._folder, wanted, SHOWN, gone.is_set), False
        try:
            while True:
                try:
                    batch, at_end = await run_in_threadpool(_batch, more)
                except OSError as error:
                    yield JSONServerSentEvent({"problem": f"The journal cannot be read: {error}"}, event="problem")
                    return
                if batch:
                    yield JSONServerSentEvent([row_of(found).as_dict() for found in batch], event="rows")
                if at_end and not ready:
                    ready = True
                    yield JSONServerSentEvent({}, event="ready")
                if at_end:
                    await asyncio.sleep(LOOK_S)
        finally:
            gone.set()  # stop a search that nobody waits for any more


def _batch(more: Iterator[JournalLine | None]) -> tuple[list[JournalLine], bool]:
    """The next records, and whether there are no more at the moment."""
    batch: list[JournalLine] = []
    for found in more:
        if found is None:
            return batch, True
        batch.append(found)
        if len(batch) >= BATCH:
            break
    return batch, False


def _waiting(found: Waiting) -> dict[str, JsonView]:
    """A call that waits, for the page."""
    return {
        **found.as_dict(),
        "digest": found.digest,
        "left_s": found.left_s,
        "lines": [*approval_lines(found)][1:],
        "may_last": found.may_last,
    }


def _answer(approvals: Approvals, name: str, digest: str, reply: PersonsAnswer) -> tuple[bool, str]:
    """Whether an answer counts, and why not."""
    found = approvals.find(name)
    try:
        is_taken = found is not None and found.digest == digest and approvals.answer(found, reply)
    except OSError as error:
        return False, f"The answer could not be written: {error.strerror}."
    return is_taken, "" if is_taken else "Not taken: it was answered elsewhere, or its time is over."


def _told(*hooks: HookFigures) -> dict[str, Json]:
    """What hooks did and cost together, for the page."""
    if not hooks:
        return {}
    counts = ((hook.runs, hook.blocks, hook.shadow_blocks, hook.failures, hook.timeouts) for hook in hooks)
    runs, blocks, shadow, failures, timeouts = map(sum, zip(*counts, strict=True))
    waited = sum(hook.cost_s for hook in hooks)
    told: dict[str, Json] = {"waited": span(waited)} if waited else {}
    told["runs"] = f"{runs:,}"
    if blocks > shadow:
        told["refused"] = f"{blocks - shadow:,}"
    if shadow:
        told["would block"] = f"{shadow:,}"
    if failures:
        told["failed"] = f"{failures:,}" + (f" ({timeouts:,} timed out)" if timeouts else "")
    return told


def _card(hook: HookFigures) -> dict[str, Json]:
    times: dict[str, Json] = {}
    if hook.cost_s:  # a rule takes no time
        times = {"p50": span(hook.p50_ms / 1000), "p95": span(hook.p95_ms / 1000)}
    return {**hook.as_dict(), "hook": visible(hook.hook), "told": {**times, **_told(hook)}}


def _ago(at_ns: int | None) -> str:
    return f"{span(max(1, (time.time_ns() - at_ns) // SECOND))} ago" if at_ns is not None else ""


def _readable(line: JournalLine) -> str:
    return visible(json.dumps(line.record, indent=2, ensure_ascii=False), keep="\n")


def page(
    folder: str, token: str, port: int, standing: Standing = _unknown, closed: str = "", index: str = ""
) -> ASGIApp:
    """The whole site."""
    journal = PageApi(folder, standing, closed, index)
    routes = [
        Route("/", journal.file),
        Route("/events", journal.events),
        Route("/standing", journal.standing),
        Route("/hooks", journal.figures),
        Route("/record/{number:int}", journal.record),
        Route("/approvals", journal.approvals),
        Route("/approvals", journal.answer, methods=["POST"]),
        Route("/{name}", journal.file),
    ]
    return Door(Starlette(routes=routes), token, port)


class Impatient(H11Protocol):
    """A connection that is closed if it is idle for too long."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.loop.call_later(REQUEST_S, self._look, None)

    def _look(self, before: RequestResponseCycle | None) -> None:
        if self.transport.is_closing():
            return
        idle = before is None or before.response_complete
        if idle and self.cycle is before:
            self.transport.close()
        else:
            self.loop.call_later(REQUEST_S, self._look, self.cycle)


class Server(uvicorn.Server):
    """Ends on SIGINT and SIGTERM without an error."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def config_of(
    folder: str, token: str, port: int, standing: Standing = _unknown, closed: str = "", index: str = ""
) -> uvicorn.Config:
    return uvicorn.Config(
        page(folder, token, port, standing, closed, index),
        http=Impatient,
        log_config=None,
        access_log=False,
        log_level="critical",
        lifespan="off",
        ws="none",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=CLOSING_S,
    )


def serve(folder: str, token: str, at: socket.socket, standing: Standing, closed: str, index: str) -> None:
    """Serve until a signal. The socket is already bound; `standing` says whether guards are on, `closed` why nobody can
    answer calls here; `index` is the path of the journal's."""
    port = at.getsockname()[1]
    if not machines_in(folder):
        page_is_at(folder, port)
    Server(config_of(folder, token, port, standing, closed, index)).run(sockets=[at])
