"""`anyhook agent`: the options of the call → a session of the agent, and its answer → stdout and an exit status. The
agent itself is imported when one of its verbs runs."""

from __future__ import annotations

import gc
import os
import sys
from typing import Any

import click

from anyhook.cli import BadCall
from anyhook.cli.fire import project_of
from anyhook.cli.options import ModeOption, ProjectJsonOptions, TrustOption, option, repeated, switch
from anyhook.cli.verb_trust import approve_all
from anyhook.cli.verbs import of_extra, verb
from anyhook.extra.agent.reaper import Reaper
from anyhook.extra.agent.settings import MAX_TURNS, SessionOptions
from anyhook.platform.run import fill_streams

CREATE_HOOK = "/create-hook"
EXAMPLE = 'anyhook agent run "Add a test for the parser" --model anthropic:NAME --permission auto'


class AgentOptions(ModeOption, TrustOption, ProjectJsonOptions):
    model: str | None = option("--model", "The model: PROVIDER:NAME or script:FILE.", "NAME")
    permission: str | None = option(
        "--permission", "Whether tools may run; default: ask.", "MODE", choices=("ask", "auto", "deny")
    )
    resume: str | None = option("--resume", "Continue this session.", "ID")
    follow: bool = switch("--follow", "Continue the latest session of this project.")
    recipe: str | None = option("--recipe", "Run a recipe; `compact` is built in.", "NAME", short="-r")
    arg: tuple[str, ...] = repeated("--arg", "An argument of the recipe; may be repeated.", "K=V")
    max_turns: str | None = option("--max-turns", "How many times the model may answer; default: 50.", "N")
    no_hooks: bool = switch("--no-hooks", "Run no hooks, not even built-in ones.")
    trust_hooks: bool = switch("--trust-hooks", "Approve the project's hooks as they are now, then run.")
    web_fetch: bool = switch("--web-fetch", "Let the agent fetch pages, as the setting `web_fetch` does.")
    output_format: str | None = option(
        "--output-format",
        "What `run` prints: text (the default), json (as --json), or stream-json, a line for each message.",
        "FORMAT",
        choices=("text", "json", "stream-json"),
    )
    max_cost: str | None = option("--max-cost", "End the run once it has cost more than this, in US dollars.", "USD")
    debug: bool = switch("--debug", "Show every hook that runs, with what it read and its stderr.")


@click.group(
    "agent",
    epilog=f"\b\nExample:\n  {EXAMPLE}",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
def agent() -> None:
    """Our own coding agent. Its loop fires every event."""


@verb("run", AgentOptions, EXAMPLE, [click.Argument(["prompt"], required=False)])
def run(prompt: str | None, call: AgentOptions) -> int:
    """Run one prompt, then exit. With `-` as PROMPT, the prompt is read from stdin.

    The answer goes to stdout, everything else to stderr.

    \b
    Exit status: 0 done, 1 the run failed, 2 a hook refused the session or the prompt, 130 interrupted.
    """
    options = session_options(call)
    prompt_text = (sys.stdin.read() if sys.stdin is not None else "") if prompt == "-" else prompt or ""
    if not prompt_text.strip() and options.recipe is None:
        raise BadCall("the prompt is missing. Give one, or `-` to read it from stdin.")
    if prompt_text.split(maxsplit=1)[:1] == [CREATE_HOOK]:
        raise BadCall(
            f"{CREATE_HOOK} shows what it wrote and asks before it saves it, which needs a person. Use it in "
            "`anyhook agent chat`; `anyhook new` writes a hook without asking."
        )
    if call.trust_hooks:
        approve_all(call, call.trust)
    fill_streams()
    with Reaper():
        status: int = loaded("headless").run(prompt_text, options, call)
    return status


def loaded(name: str) -> Any:
    """A module of the agent, which needs packages of its extra. The garbage collector is off meanwhile, and never scans
    those modules: that would take a seventh of the time."""
    gc.disable()
    try:
        return of_extra(f"anyhook.extra.agent.{name}", "agent", "the agent is not installed")
    finally:
        gc.freeze()
        gc.enable()


def session_options(call: AgentOptions) -> SessionOptions:
    """The checked values of a call."""
    most, cost = call.max_turns or str(MAX_TURNS), call.max_cost
    pairs = [pair.partition("=") for pair in call.arg]
    wrong = _wrong(call, most)
    if wrong:
        raise BadCall(wrong)
    return SessionOptions(
        project=os.path.realpath(project_of(call.project, call.plugin_dir)),
        env=dict(os.environ),
        model=call.model or None,
        permission=call.permission or "ask",
        resume=call.resume or None,
        follow=call.follow,
        recipe=call.recipe or None,
        arguments={key: value for key, _, value in pairs},
        max_turns=int(most),
        hooks=not call.no_hooks,
        trust=call.trust or "ask",
        dialects=call.dialect,
        plugin_dirs=call.plugin_dir,
        state_dir=call.state_dir or None,
        web_fetch=call.web_fetch,
        max_cost=float(cost) if cost is not None else None,
        mode=call.mode or None,
    )


def _wrong(call: AgentOptions, most: str) -> str:
    """What is wrong with a call."""
    if not most.isdigit():
        return f"--max-turns {most}: must be a number; 0 means no limit."
    for pair in call.arg:
        key, equals, _ = pair.partition("=")
        if not key or not equals:
            return f"--arg {key}: must be K=V."
    if call.resume == "":
        return "--resume: the id of a session is missing. `--follow` continues the latest."
    if call.resume and call.follow:
        return "--resume and --follow cannot be combined. Use one of them."
    if call.max_cost is not None and not call.max_cost.replace(".", "", 1).isdigit():
        return f"--max-cost {call.max_cost}: must be an amount in US dollars, such as 0.50."
    return ""


CHAT_EXAMPLE = "anyhook agent chat --model anthropic:NAME"


@verb("chat", AgentOptions, CHAT_EXAMPLE, [click.Argument(["prompt"], required=False)])
def chat(prompt: str | None, call: AgentOptions) -> int:
    """Chat with the agent in the terminal. PROMPT is the first prompt; /help lists commands.

    Before any hook of the project runs, it shows them and asks.

    \b
    Exit status: 0 done, 2 a hook refused the session, 130 ended by a signal.
    """
    if call.json:
        raise BadCall("--json: a chat is for people. `anyhook agent run --json` is for programs.")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise BadCall("a chat needs a terminal. Without one, use `anyhook agent run`.")
    if prompt == "-":
        raise BadCall("-: a chat's stdin is the terminal. Write the prompt itself, or nothing.")
    options = session_options(call)
    with Reaper():
        status: int = loaded("chat.loop").run(prompt or "", options, call)
    return status


agent.add_command(run)
agent.add_command(chat)
