"""MCP over streamable HTTP, for agents that call an address instead of starting a command. Served on this machine
only; every session has its own connection to the server behind it."""

from __future__ import annotations

import logging
import socket
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

import anyio
import uvicorn
from anyio.abc import TaskGroup, TaskStatus
from mcp.client._transport import TransportStreams
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER, StreamableHTTPServerTransport
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import PlainTextResponse

Connect = Callable[[TransportStreams], Awaitable[object]]

log = logging.getLogger(__name__)
PATH = "/mcp"
LOCAL = TransportSecuritySettings(
    enable_dns_rebinding_protection=True,
    allowed_hosts=["127.0.0.1:*", "localhost:*"],
    allowed_origins=["http://127.0.0.1:*", "http://localhost:*"],
)


async def serve(at: socket.socket, connect: Connect) -> None:
    """Serve until the process is interrupted; `connect` carries one session from its start to its end."""
    async with anyio.create_task_group() as group:
        config = uvicorn.Config(_Sessions(connect, group), lifespan="off", log_level="warning")
        await uvicorn.Server(config).serve([at])
        group.cancel_scope.cancel()


class _Sessions:
    """An ASGI application: requests, by the session they belong to."""

    def __init__(self, connect: Connect, group: TaskGroup) -> None:
        self._connect, self._group = connect, group
        self._open: dict[str, StreamableHTTPServerTransport] = {}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["path"].rstrip("/") != PATH:
            await PlainTextResponse(f"The MCP server is at {PATH}.\n", 404)(scope, receive, send)
            return
        wanted = MCP_SESSION_ID_HEADER.encode().lower()
        session = next((value.decode("latin-1") for key, value in scope["headers"] if key == wanted), None)
        if session is not None:
            transport = self._open.get(session)
            if transport is None:
                await PlainTextResponse("There is no such session.\n", 404)(scope, receive, send)
            else:
                await transport.handle_request(scope, receive, send)
            return
        await self._begin(scope, receive, send)

    async def _begin(self, scope: Any, receive: Any, send: Any) -> None:
        """The first request of a session. One that is refused leaves nothing behind."""
        status = 500

        async def watched(message: Any) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        name = uuid4().hex
        transport = StreamableHTTPServerTransport(mcp_session_id=name, security_settings=LOCAL)
        await self._group.start(self._carry, name, transport)
        try:
            await transport.handle_request(scope, receive, watched)
        finally:
            if status >= 400:
                await transport.terminate()

    async def _carry(
        self, name: str, transport: StreamableHTTPServerTransport, *, task_status: TaskStatus[None]
    ) -> None:
        self._open[name] = transport
        async with transport.connect() as streams:
            task_status.started()
            try:
                await self._connect(streams)
            except Exception as error:  # one session's end; the others go on
                log.error("An MCP session failed: %s", error, exc_info=log.isEnabledFor(logging.DEBUG))
            finally:
                self._open.pop(name, None)
                with anyio.CancelScope(shield=True):
                    await transport.terminate()
