"""An agent of one's own with hooks: the three lines are the imports' last two and the capability."""

from pydantic_ai import Agent

from anyhook import Engine
from anyhook.adapters.pydantic_ai import Hooked

agent = Agent("test", capabilities=[Hooked(Engine.open("."))])  # "test" calls every tool once, without a network


@agent.tool_plain
def delete_file(path: str) -> str:
    """Delete a file."""
    return f"{path} is gone"


@agent.tool_plain
def word_count(text: str) -> int:
    """Count words."""
    return len(text.split())


print(agent.run_sync("Tidy up.").output)
