"""The session's MCP servers, with the framework's own client: connected when the session starts, closed when it ends.
Their tools are called `mcp__SERVER__TOOL`. If a server does not work, only its own tools are missing."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from tempfile import TemporaryFile
from typing import Any, TextIO

from fastmcp.client.transports import StdioTransport
from fastmcp.exceptions import McpError
from pydantic_ai import RunContext
from pydantic_ai.exceptions import ModelRetry, ToolFailed
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.toolsets import ToolsetTool, WrapperToolset

from anyhook.documents.variables import with_variables
from anyhook.extra.agent.content import Offer

START_LIMIT_S = 30.0
"""How long a server may take to start: some are installed first."""
CHECK_LIMIT_S = 5.0
CONNECTED, FAILED = "connected", "failed"
CONNECTION_CLOSED = -32000
"""The client's own code for it."""
NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
STDERR_CHARACTERS = 300


class McpServer(WrapperToolset[Any]):
    """One server. The session keeps its connection open between turns."""

    def __init__(self, offer: Offer, env: Mapping[str, str]) -> None:
        self.name = NOT_IN_NAMES.sub("_", offer.name)
        self.status = "pending"
        self.why = ""
        """Why it cannot be used."""
        self.tools: list[str] = []
        self._source = offer.source
        self._stderr: TextIO = TemporaryFile("w+", errors="replace")  # noqa: SIM115 (closed with the server)
        spec: dict[str, Any] = {key: with_variables(value, env) for key, value in offer.spec.items()}
        command, url = spec.get("command"), spec.get("url")
        if isinstance(command, str):
            given: Any = spec.get("env") or {}
            args: Any = spec.get("args") or []
            cwd = spec.get("cwd")
            client: Any = StdioTransport(
                command, [str(word) for word in args], {**env, **given}, cwd if isinstance(cwd, str) else offer.folder,
                keep_alive=False, log_file=self._stderr,
            )  # fmt: skip
            self.toolset: MCPToolset[Any] = MCPToolset(client, id=self.name, tool_error_behavior="failed",
                                                       init_timeout=START_LIMIT_S)  # fmt: skip
        else:
            headers: Any = spec.get("headers")
            self.toolset = MCPToolset(str(url), id=self.name, tool_error_behavior="failed", headers=headers,
                                      init_timeout=START_LIMIT_S)  # fmt: skip
        super().__init__(self.toolset.prefixed(f"mcp__{self.name}_"))

    async def connect(self, stack: AsyncExitStack) -> str:
        """Connect; returns why it cannot be used, or ""."""
        stack.enter_context(self._stderr)
        try:
            await stack.enter_async_context(self.toolset)
            self.tools = [f"mcp__{self.name}__{tool.name}" for tool in await self.toolset.list_tools()]
        except Exception as error:  # noqa: BLE001 (whatever a server or its client does is this server's failure)
            self.status, self.why = FAILED, f"{self._said() or _words(error)}. Check its entry in {self._source}"
        else:
            self.status = CONNECTED
        return self.why

    def _said(self) -> str:
        """The last lines that it wrote to stderr, as many as fit; of a longer one the beginning."""
        self._stderr.seek(0)
        lines = [" ".join(line.split()) for line in self._stderr.read().splitlines()]
        kept = ""
        for line in reversed([line for line in lines if line]):
            if kept and len(line) + len(kept) > STDERR_CHARACTERS:
                break
            kept = f"{line} {kept}".strip()
        if len(kept) > STDERR_CHARACTERS:
            kept = f"{kept[:STDERR_CHARACTERS]}…"
        return kept.rstrip(".")

    async def __aenter__(self) -> McpServer:
        return self  # the session connects and closes it, not a run

    async def __aexit__(self, *_: Any) -> None:
        return None

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        return await super().get_tools(ctx) if self.status == CONNECTED else {}

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        try:
            return await super().call_tool(name, tool_args, ctx, tool)
        except ModelRetry as error:  # the client's word for any error of the protocol
            await self.check()
            if self.status == CONNECTED:
                raise
            raise ToolFailed(f"The MCP server `{self.name}` cannot be used any more: {self.why}.") from error

    async def check(self) -> None:
        """Notice it if the server has ended since it was connected. Any answer counts: not all servers know `ping`."""
        if self.status != CONNECTED:
            return
        try:
            async with asyncio.timeout(CHECK_LIMIT_S):
                await self.toolset.client.ping()
            return
        except McpError as error:
            if error.error.code != CONNECTION_CLOSED:
                return
            why = self._said() or "it has ended, or closed the connection"
        except Exception as error:  # noqa: BLE001 (whatever a server or its client does is this server's failure)
            why = _words(error)
        self.status, self.why, self.tools = FAILED, why, []


def _words(error: BaseException) -> str:
    """What is behind a client's failure, without what its tasks wrap around it."""
    seen: list[BaseException] = []  # tasks that fail one after the other may name each other
    while error not in seen:
        seen.append(error)
        group = error.exceptions[0] if isinstance(error, BaseExceptionGroup) else None
        error = group or error.__cause__ or error.__context__ or error
    if isinstance(error, TimeoutError):
        return "it did not answer in time"
    said = f"{error.strerror}: {error.filename}" if isinstance(error, OSError) and error.filename else str(error)
    return " ".join(said.split()).rstrip(".") or type(error).__name__


class McpServers:
    """All servers of a session. Each has a task that connects and closes it, as its client requires."""

    def __init__(self, offers: list[Offer], env: Mapping[str, str], tell: Callable[[str], None]) -> None:
        self.all = [McpServer(offer, env) for offer in offers]
        self._tell = tell
        self._held: list[asyncio.Task[None]] = []
        self._over = asyncio.Event()

    async def open(self) -> None:
        """All at once: some take their time."""
        ready = [asyncio.Event() for _ in self.all]
        self._held = [asyncio.create_task(self._hold(*each)) for each in zip(self.all, ready, strict=True)]
        await asyncio.gather(*(each.wait() for each in ready))

    async def _hold(self, server: McpServer, ready: asyncio.Event) -> None:
        async with AsyncExitStack() as stack:
            try:
                if why := await server.connect(stack):
                    self._tell(f"The MCP server `{server.name}` cannot be used: {why}.")
            finally:
                ready.set()
            await self._over.wait()

    async def close(self) -> None:
        self._over.set()
        if self._held:
            await asyncio.wait(self._held, timeout=5.0)
        for task in self._held:
            if not task.cancel() and not task.cancelled():
                task.exception()  # a server that has died cannot be closed either
