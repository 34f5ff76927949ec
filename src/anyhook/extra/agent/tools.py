"""The agent's tools, all from the harness, under the names in the contract."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from pydantic_ai import RunContext
from pydantic_ai.capabilities import AbstractCapability, LocalWorkspace, Toolset
from pydantic_ai.toolsets import AbstractToolset, FunctionToolset, ToolsetTool, WrapperToolset
from pydantic_ai.workspaces import Workspace
from pydantic_ai_harness.filesystem import FileSystem
from pydantic_ai_harness.repair_tool_arguments import RepairToolArguments
from pydantic_ai_harness.repo_context import RepoContext
from pydantic_ai_harness.shell import Shell

from anyhook.extra.agent.settings import AgentSettings, BadSetup
from anyhook.model.texts import install_command

FILES = ("read_file", "write_file", "edit_file", "list_files", "grep")
SHELL = "shell"
SHELL_LIMIT_S = 120.0
TOOLS = (SHELL, *FILES, "delegate_task")
READ = "read_file"
UNREAD = re.compile(r"Path not found: |\[[^\n]*\]\nToo large to (?:read|view): ")
"""How the harness answers where it could not read a file. (It numbers the lines of those that it could.)"""
RETRIES = 5
"""How often in a row a model may get one file tool's input wrong before the run fails."""


class ShellText(str):
    """The shell tool's answer, with what its process printed and its exit status. (The text also has them, but so may a
    file that a command prints.)"""

    exit_code: int = 0
    stdout: str = ""
    stderr: str = ""


class _Noting:
    """A workspace that remembers how its first command ended."""

    def __init__(self, workspace: Any) -> None:
        self._workspace = workspace
        self.exit_code: int | None = None
        self.stdout = self.stderr = ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._workspace, name)

    async def run(self, *words: Any, **switches: Any) -> Any:
        first = self.exit_code is None
        self.exit_code = 1 if first else self.exit_code  # unless it ends by itself
        result = await self._workspace.run(*words, **switches)
        if first:
            self.exit_code, self.stdout, self.stderr = result.exit_code, result.stdout, result.stderr
        return result


class _WithStatus(WrapperToolset[Any]):
    """Tools that run commands, with the exit status in their answers."""

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        noting = _Noting(ctx.workspace)
        result = await super().call_tool(name, tool_args, replace(ctx, workspace=cast("Workspace", noting)), tool)
        if not isinstance(result, str):
            return result
        text = ShellText(result)
        text.exit_code, text.stdout, text.stderr = noting.exit_code or 0, noting.stdout, noting.stderr
        return text


class NamedShell(Shell[Any]):
    """The harness's shell, under the name `shell`. Its commands end with their call."""

    def get_toolset(self) -> AbstractToolset[Any]:  # type: ignore[override]  # a renamed one does as well
        return _WithStatus(super().get_toolset()).renamed({SHELL: "run_command"})


def tools(project: str, env: Mapping[str, str], settings: AgentSettings) -> list[AbstractCapability[Any]]:
    """Workspace, files, shell, the project's own instructions, and the web if the user wants it. `env` is the
    environment of commands."""
    return [
        LocalWorkspace(project, env=env),
        FileSystem(content_hashes=False, tools=FILES, max_retries=RETRIES),
        NamedShell(tools=["run_command"], denied_commands=[], default_timeout=SHELL_LIMIT_S),
        RepoContext(expose_inventory_tool=False),
        RepairToolArguments(),
        *([_web(settings.web_fetch_local)] if settings.web_fetch else []),
    ]


def _web(local: bool) -> AbstractCapability[Any]:
    """The framework's own fetching, which cannot reach this machine's network unless allowed."""
    try:
        from pydantic_ai.common_tools.web_fetch import web_fetch_tool
    except ImportError as error:
        raise BadSetup(f"fetching pages is not installed ({error}): {install_command('agent')}") from None
    return Toolset(FunctionToolset([web_fetch_tool(allow_local_urls=local)]))


def exit_code(tool: str, result: object) -> int:
    """The exit status of the process that a shell call ran; 1 for a file that could not be read. Other tools raise an
    error where they fail."""
    if tool == SHELL and isinstance(result, ShellText):
        return result.exit_code
    return int(tool == READ and isinstance(result, str) and UNREAD.match(result) is not None)
