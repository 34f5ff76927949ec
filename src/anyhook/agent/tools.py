"""The agent's tools, all from the harness, under the names that the contract gives them. It adds none of its own."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any

from pydantic_ai.capabilities import AbstractCapability, LocalWorkspace
from pydantic_ai_harness.filesystem import FileSystem
from pydantic_ai_harness.repair_tool_arguments import RepairToolArguments
from pydantic_ai_harness.repo_context import RepoContext
from pydantic_ai_harness.shell import LLM_API_KEY_ENV_PATTERNS, Shell
from pydantic_ai_harness.subagents import SubAgents

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_ai.toolsets import AbstractToolset

FILES = ("read_file", "write_file", "edit_file", "list_files", "grep")
SHELL = "shell"
SHELL_LIMIT_S = 120.0
RETRIES = 5
"""How often in a row a model may get one file tool's input wrong before the run fails."""
EXIT_CODE = re.compile(r"\n\[exit code: (-?\d+)\]")


class NamedShell(Shell[Any]):
    """The harness's shell, whose commands end with their call, under the name `shell`."""

    def get_toolset(self) -> AbstractToolset[Any]:  # type: ignore[override]  # a renamed one does as well
        return super().get_toolset().renamed({SHELL: "run_command"})


def tools(project: str, env: Mapping[str, str]) -> list[AbstractCapability[Any]]:
    """Workspace, files, shell, sub-agents, and the project's own instructions."""
    kept = {key: value for key, value in env.items() if not any(fnmatch(key, row) for row in LLM_API_KEY_ENV_PATTERNS)}
    return [
        LocalWorkspace(project, env=kept),
        FileSystem(content_hashes=False, tools=FILES, max_retries=RETRIES),
        NamedShell(tools=["run_command"], denied_commands=[], default_timeout=SHELL_LIMIT_S),
        RepoContext(expose_inventory_tool=False),
        SubAgents(include_self=True, forward_usage=False),
        RepairToolArguments(),
    ]


def exit_code(tool: str, result: object) -> int:
    """The exit status that the shell's text tells of."""
    if tool != SHELL or not isinstance(result, str):
        return 0
    found = EXIT_CODE.findall(result)
    if found:
        return int(found[-1])
    return 1 if result.rstrip().endswith("s]") and "[Command timed out after" in result else 0
