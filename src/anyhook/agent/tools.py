"""The agent's tools, all from the harness, under the names that the contract gives them. It adds none of its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pydantic_ai.capabilities import AbstractCapability, LocalWorkspace, Toolset
from pydantic_ai.toolsets import FunctionToolset
from pydantic_ai_harness.filesystem import FileSystem
from pydantic_ai_harness.repair_tool_arguments import RepairToolArguments
from pydantic_ai_harness.repo_context import RepoContext
from pydantic_ai_harness.shell import Shell
from pydantic_ai_harness.subagents import SubAgents

from anyhook.agent.failure import BadSetup
from anyhook.handlers.key_variables import without_keys

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic_ai.toolsets import AbstractToolset

    from anyhook.agent.settings import AgentSettings

FILES = ("read_file", "write_file", "edit_file", "list_files", "grep")
SHELL = "shell"
SHELL_LIMIT_S = 120.0
TOOLS = (SHELL, *FILES, "delegate_task")
RETRIES = 5
"""How often in a row a model may get one file tool's input wrong before the run fails."""
EXIT_CODE = re.compile(r"\n\[exit code: (-?\d+)\]")


class NamedShell(Shell[Any]):
    """The harness's shell, whose commands end with their call, under the name `shell`."""

    def get_toolset(self) -> AbstractToolset[Any]:  # type: ignore[override]  # a renamed one does as well
        return super().get_toolset().renamed({SHELL: "run_command"})


def tools(
    project: str, env: Mapping[str, str], settings: AgentSettings, key_names: Sequence[str] = ()
) -> list[AbstractCapability[Any]]:
    """Workspace, files, shell, sub-agents, the project's own instructions, and the web where the user wants that.
    `key_names` are the variables in which the user's settings keep providers' keys."""
    return [
        LocalWorkspace(project, env=without_keys(env, key_names, settings.pass_env)),
        FileSystem(content_hashes=False, tools=FILES, max_retries=RETRIES),
        NamedShell(tools=["run_command"], denied_commands=[], default_timeout=SHELL_LIMIT_S),
        RepoContext(expose_inventory_tool=False),
        SubAgents(include_self=True, forward_usage=False),
        RepairToolArguments(),
        *([_web(settings.web_fetch_local)] if settings.web_fetch else []),
    ]


def _web(local: bool) -> AbstractCapability[Any]:
    """The framework's own fetching, which cannot reach this machine's network unless allowed."""
    try:
        from pydantic_ai.common_tools.web_fetch import web_fetch_tool
    except ImportError as error:
        raise BadSetup(f"fetching pages is not installed ({error}). Install it: pip install 'anyhook[agent]'") from None
    return Toolset(FunctionToolset([web_fetch_tool(allow_local_urls=local)]))


def exit_code(tool: str, result: object) -> int:
    """The exit status that the shell's text tells of."""
    if tool != SHELL or not isinstance(result, str):
        return 0
    found = EXIT_CODE.findall(result)
    if found:
        return int(found[-1])
    return 1 if result.rstrip().endswith("s]") and "[Command timed out after" in result else 0
