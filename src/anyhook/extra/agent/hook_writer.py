"""Lets the model write a hook from a description. It saves and starts nothing: the caller examines the draft, and the
model gets the mistakes and tries again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field
from pydantic_ai import Agent, ModelRetry, UnexpectedModelBehavior

from anyhook.extra.agent.failure import Failed
from anyhook.extra.agent.script import HOOK_WRITER, asked_apart
from anyhook.extra.agent.trouble import explained

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic_ai.models import Model

TRIES = 3
INSTRUCTIONS = (
    "You write one lifecycle hook for a coding agent: a script that is started when an event happens, reads one JSON "
    "object on stdin and answers by its exit status and what it prints. Write the smallest script that does what the "
    "user describes and nothing else; it must need no network and no package that is not installed everywhere, and "
    "must not change any file unless the description says so. Choose the event by the description. What a hook of "
    "this kind reads and may answer:"
)


class Draft(BaseModel):
    """One hook, as the model wrote it."""

    name: Annotated[str, Field(description="Short, of lower-case letters, digits and dashes.")]
    event: Annotated[str, Field(description="One of the events, spelled as in the list.")]
    tool: Annotated[str, Field(description="The tool it is for, by its name or a pattern of names; empty for all.")] = (
        ""
    )
    lang: Literal["bash", "python"]
    script: Annotated[str, Field(description="The whole script, with its first line `#!/usr/bin/env …`.")]
    explanation: Annotated[str, Field(description="One sentence: what it does, and when.")]
    sample: Annotated[
        dict[str, Any], Field(description="An event that the hook acts on: some of the keys it reads on stdin.")
    ]


async def write_hook(model: Model, about: str, description: str, examine: Callable[[Draft], list[str]]) -> Draft:
    """A draft that passes `examine`; raises Failed if the model does not manage that."""
    writer = Agent(model, output_type=Draft, instructions=f"{INSTRUCTIONS}\n\n{about}", retries=TRIES - 1)
    found: list[str] = []

    @writer.output_validator
    def check(draft: Draft) -> Draft:
        found[:] = examine(draft)
        if found:
            raise ModelRetry("This hook is not good yet:\n" + "\n".join(f"- {each}" for each in found))
        return draft

    token = asked_apart.set(HOOK_WRITER)
    try:
        return (await writer.run(description)).output
    except UnexpectedModelBehavior as error:
        said = "; ".join(found) or f"it was asked {TRIES} times, and its answers were not a draft ({error})"
        raise Failed(said) from None
    except Exception as error:  # noqa: BLE001 (whatever a model or a provider's client raises)
        raise Failed("; ".join(found) if found else explained(error, model)) from None
    finally:
        asked_apart.reset(token)
