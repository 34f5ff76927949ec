"""Hooks around the tools of an MCP server, for agents that have no hooks: a proxy between agent and server that asks
before and after every call of a tool. Every other message passes unchanged. A call that cannot be judged is refused."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import anyio
from anyio.abc import TaskGroup
from mcp.client._transport import TransportStreams
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import (
    CONNECTION_CLOSED,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from anyhook.cli import BAD_CALL, DONE, FINDINGS, render
from anyhook.cli.ports import bound, port_of
from anyhook.engine.engine import Engine
from anyhook.extra.frameworks import mcp_http
from anyhook.extra.frameworks.conversation import HookedConversation, HookedResult, Script, ToolCall
from anyhook.extra.frameworks.lifecycle import Lifecycle
from anyhook.extra.frameworks.verb_mcp import McpOptions
from anyhook.model.json_types import Json

LAST_ANSWERS_S = 10.0
"""How long answers are still passed on after the agent has closed its side."""
GONE = (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream)


class _McpCall(ToolCall):
    """A call and the hooks that judge it, before and after."""

    def __init__(self, tool: str, given: Any, call_id: str) -> None:
        super().__init__(tool, given, call_id)
        self.hooks: HookedConversation | None = None

    async def asks(self, open_engine: Callable[[], Engine], facts: dict[str, Json]) -> bool:
        """Whether the tool may run, by the hooks as they are now."""
        engine = open_engine()
        self.hooks = HookedConversation(engine, Lifecycle(engine, facts), "anyhook.mcp")
        return await self.hooks.play(self.before())

    async def shows(self, script: Script[HookedResult]) -> HookedResult:
        if self.hooks is None:
            raise RuntimeError("nobody was asked before the call")
        return await self.hooks.play(script)


class McpProxy:
    """One connection of an agent to one server."""

    def __init__(
        self,
        open_engine: Callable[[], Engine],
        agent: TransportStreams,
        name: str = "",
        facts: dict[str, Json] | None = None,
    ) -> None:
        self.name = name
        """The server's name in `mcp__NAME__TOOL`; "" until the server has sent it."""
        self._greeting: RequestId | None = None
        """The pending request whose answer has the name."""
        self._greeted = anyio.Event()
        self._open_engine = open_engine
        """Called for every call: a connection lasts for hours, and hooks and approvals change meanwhile."""
        self._facts = facts or {}
        self._from_agent, self._to_agent = agent
        self._judging: set[RequestId] = set()
        """Calls whose hooks are being asked."""
        self._calls: dict[RequestId, _McpCall] = {}
        """Calls that the server is running, by the id of the request for their result."""
        self._tasks: dict[str, _McpCall] = {}
        """Calls that go on after their first answer, by the id of their task."""
        self._open: set[RequestId] = set()
        """The agent's unanswered requests."""
        self._all_answered = anyio.Event()

    async def run(self, server: TransportStreams) -> bool:
        """Pass messages until one side ends. True if it was the agent."""
        from_server, self._to_server = server
        agent_left = False
        async with anyio.create_task_group() as group:

            async def serve() -> None:
                async for message in _messages(from_server):
                    await self._answered(message, group)
                group.cancel_scope.cancel()

            group.start_soon(serve)
            async for message in _messages(self._from_agent):
                await self._asked(message, group)
            agent_left = True
            with anyio.move_on_after(LAST_ANSWERS_S):
                while self._open:
                    await self._all_answered.wait()
                    self._all_answered = anyio.Event()
            group.cancel_scope.cancel()
        await self._to_server.aclose()
        if agent_left:
            await self._to_agent.aclose()
        return agent_left

    async def fail(self, reason: str) -> None:
        """The server is gone: tell the agent, in answer to what it has asked or asks next."""
        if not self._open:
            with anyio.move_on_after(LAST_ANSWERS_S):
                async for message in _messages(self._from_agent):
                    if isinstance(message, SessionMessage) and isinstance(message.message, JSONRPCRequest):
                        self._open.add(message.message.id)
                        break
        for request in list(self._open):
            error = ErrorData(code=CONNECTION_CLOSED, message=f"anyhook: {reason}")
            await self._tell(JSONRPCError(jsonrpc="2.0", id=request, error=error))
        await self._to_agent.aclose()

    async def _asked(self, message: SessionMessage | Exception, group: TaskGroup) -> None:
        """One message of the agent. Hooks are asked in a separate task, so no call waits for another's hooks."""
        if isinstance(message, Exception):
            what = ErrorData(code=PARSE_ERROR, message="anyhook: this is not a JSON-RPC message; it was not passed on")
            await self._tell(JSONRPCError(jsonrpc="2.0", id=None, error=what))
            return
        asked = message.message
        params = getattr(asked, "params", None) or {}
        if isinstance(asked, JSONRPCRequest):
            self._open.add(asked.id)
            if asked.method == "initialize" and not self.name:
                self._greeting = asked.id
        if isinstance(asked, JSONRPCRequest) and asked.method == "tools/call":
            self._judging.add(asked.id)
            group.start_soon(self._judge, message, asked)
            return
        if isinstance(asked, JSONRPCRequest) and asked.method == "tasks/result" and params.get("taskId") in self._tasks:
            self._calls[asked.id] = self._tasks.pop(params["taskId"])
        if isinstance(asked, JSONRPCNotification) and asked.method == "notifications/cancelled":
            taken_back = params.get("requestId", "")
            self._judging.discard(taken_back)
            self._calls.pop(taken_back, None)
            self._settled(taken_back)
        await self._send(self._to_server, message)

    async def _judge(self, message: SessionMessage, asked: JSONRPCRequest) -> None:
        params = asked.params or {}
        if self._greeting is not None:  # until then the name that hooks know the tool by is unknown
            await self._greeted.wait()
        call = _McpCall(
            f"mcp__{self.name or 'server'}__{params.get('name')}", params.get("arguments") or {}, str(asked.id)
        )
        try:
            allowed = await call.asks(self._open_engine, self._facts)
        except Exception as error:  # noqa: BLE001 (our faults never open a gate)
            allowed, call.refusal = False, f"anyhook could not ask the hooks of {call.tool}: {error}"
        if asked.id not in self._judging:
            return  # the agent has cancelled it
        self._judging.discard(asked.id)
        if not allowed:
            result = {"content": [_text(call.refusal or f"A hook denied {call.tool}.")], "isError": True}
            await self._tell(JSONRPCResponse(jsonrpc="2.0", id=asked.id, result=result))
            return
        self._calls[asked.id] = call
        if call.rewritten:
            asked = asked.model_copy(update={"params": {**params, "arguments": call.input}})
        await self._send(self._to_server, SessionMessage(asked, message.metadata))

    async def _answered(self, message: SessionMessage | Exception, group: TaskGroup) -> None:
        """One message of the server."""
        if isinstance(message, Exception):
            return  # not a message; its request stays unanswered, as without us
        said = message.message
        call = None
        if isinstance(said, JSONRPCResponse | JSONRPCError) and said.id is not None:
            call = self._calls.pop(said.id, None)
            if said.id == self._greeting:
                info = said.result.get("serverInfo") if isinstance(said, JSONRPCResponse) else None
                self.name = str(info.get("name") or "") if isinstance(info, dict) else ""
                self._greeting = None
                self._greeted.set()
        if call is None:
            await self._send(self._to_agent, message)
        elif isinstance(said, JSONRPCResponse) and isinstance(said.result.get("task"), dict):
            self._tasks[str(said.result["task"].get("taskId"))] = call
            await self._send(self._to_agent, message)
        else:
            group.start_soon(self._finish, message, call)

    async def _finish(self, message: SessionMessage, call: _McpCall) -> None:
        """The result of a call, once its hooks have seen it."""
        try:
            message = SessionMessage(await self._seen(message.message, call), message.metadata)
        except Exception as error:  # noqa: BLE001 (a result that nobody could look at is withheld)
            text = f"The tool ran. anyhook could not show its result to the hooks, so it is withheld: {error}"
            said: Any = message.message
            result = {"content": [_text(text)], "isError": True}
            message = SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=said.id, result=result))
        await self._send(self._to_agent, message)

    async def _seen(self, said: Any, call: _McpCall) -> JSONRPCResponse | JSONRPCError:
        if isinstance(said, JSONRPCError):
            heard = await call.shows(call.failed(said.error.message))
            error = said.error.model_copy(update={"message": heard.text(said.error.message)})
            return said.model_copy(update={"error": error}) if heard.changed else said
        content = list(said.result.get("content") or [])
        texts = [part["text"] for part in content if part.get("type") == "text" and isinstance(part.get("text"), str)]
        output = "\n".join(texts) if texts else said.result.get("structuredContent") or content
        script = call.failed(output) if said.result.get("isError") else call.after(output)
        heard = await call.shows(script)
        if not heard.changed:
            answer: JSONRPCResponse = said
            return answer
        result = {**said.result, "content": heard.parts(content, _text)}
        if heard.replaced is not None:
            result.pop("structuredContent", None)  # it contains what a hook removed
        return JSONRPCResponse(jsonrpc="2.0", id=said.id, result=result)

    async def _tell(self, message: JSONRPCResponse | JSONRPCError) -> None:
        await self._send(self._to_agent, SessionMessage(message))

    async def _send(self, stream: Any, message: SessionMessage) -> None:
        try:
            await stream.send(message)
        except GONE:
            return  # that side has ended; `run` notices
        finally:
            if stream is self._to_agent and isinstance(message.message, JSONRPCResponse | JSONRPCError):
                self._settled(message.message.id)

    def _settled(self, request: RequestId | None) -> None:
        if request is not None:
            self._open.discard(request)
        if not self._open:
            self._all_answered.set()


async def _messages(stream: Any) -> AsyncIterator[SessionMessage | Exception]:
    """Incoming messages, until the stream ends in any way."""
    try:
        async for message in stream:
            yield message
    except GONE:
        return


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


# -- the verb


LAST_WORDS_S = 0.2
"""Time for the last output to reach the agent."""


async def serve(command: tuple[str, ...], options: McpOptions, project: str) -> int:
    """The proxy, until the agent or the server ends the connection; the exit status."""
    session = str(uuid4())

    def open_engine() -> Engine:
        return Engine.open(
            project,
            dialects=options.dialect,
            trust=options.trust or "ask",
            on_failure=options.on_failure,
            mode=options.mode,
            plugin_dirs=options.plugin_dir,
            session=session,
            host="mcp",
        )

    async def connect(agent: TransportStreams) -> int:
        proxy = McpProxy(open_engine, agent, options.name or "", {"session": session})
        status = BAD_CALL
        try:
            async with _upstream(command, options.url) as server:
                status = FINDINGS
                if await proxy.run(server):
                    return DONE
            what = "ended the connection"
        except Exception as error:  # noqa: BLE001 (the agent is told, whatever it is)
            what = f"cannot be reached: {_first(error)}"
        reason = f"the server `{options.url or command[0]}` {what.rstrip('.')}."
        render.say(f"anyhook mcp: {reason}")
        await proxy.fail(reason)
        await anyio.sleep(LAST_WORDS_S)
        return status

    if options.http is not None:
        with bound(port_of(options.http, "--http"), "--http") as at:
            render.say(f"Serving http://127.0.0.1:{at.getsockname()[1]}{mcp_http.PATH}. Ctrl-C stops it.")
            await mcp_http.serve(at, connect)
        return DONE
    async with stdio_server() as agent:
        status = await connect(agent)
        if status != DONE:
            os._exit(status)  # a thread still waits for the agent's next line, and cannot be woken
    return DONE


@asynccontextmanager
async def _upstream(command: tuple[str, ...], url: str | None) -> AsyncIterator[Any]:
    if url:
        async with streamable_http_client(url) as streams:
            yield streams
        return
    server = StdioServerParameters(command=command[0], args=list(command[1:]), env=dict(os.environ))
    async with stdio_client(server, errlog=sys.stderr) as streams:
        yield streams


def _first(error: Exception) -> Exception:
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error
