"""Slash commands, one small function each."""

from __future__ import annotations

import dataclasses
import shutil
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from pydantic import ValidationError
from pydantic_ai.messages import ModelMessagesTypeAdapter

from anyhook.cli import BadCall
from anyhook.cli.verb_list import hook_table
from anyhook.cli.view.console import BAD, BOLD, FAINT, WARN, drawn
from anyhook.cli.view.text import visible
from anyhook.extra.agent import prompts
from anyhook.extra.agent.chat import approval
from anyhook.extra.agent.chat.new_hook import create_hook
from anyhook.extra.agent.chat.screen import Screen, tilde
from anyhook.extra.agent.session import BLOCKED, DONE, Session
from anyhook.extra.agent.status_line import INDENT
from anyhook.extra.agent.undo import NoSnapshot
from anyhook.extra.frameworks.messages import plain
from anyhook.gates.status import gates
from anyhook.model.hook import Hook
from anyhook.state.conversations import Conversations
from anyhook.tables.shapes import guess

if TYPE_CHECKING:
    from anyhook.extra.agent.chat.loop import Chat

RESTART = "restart"
WIDE = 100
"""From this width on there is room for the id of a session next to what it was about."""
UNKEPT = (
    "Commands ran in that turn. What they changed in files that git ignores, in nested repositories and outside the "
    "project is not put back."
)


@dataclass
class SlashCommand:
    """One command: its arguments, a text that says what it does, and the function that does it."""

    words: str
    help: str
    act: Callable[[Chat, str], Awaitable[None]]


def is_command(line: str) -> bool:
    """Whether a line is a slash and a word. (A path has another slash.)"""
    first = line.split(maxsplit=1)[0] if line else ""
    return first.startswith("/") and "/" not in first[1:]


def names(chat: Chat) -> list[str]:
    """All commands, recipes and skills, with the slash."""
    return [f"/{name}" for name in [*COMMANDS, *_recipes(chat), *_skills(chat)]]


async def carry_out(chat: Chat, line: str) -> None:
    word, _, rest = line[1:].partition(" ")
    command = COMMANDS.get(word)
    if command is not None:
        await command.act(chat, rest.strip())
    elif (recipe := word in _recipes(chat)) or word in _skills(chat):
        chat.screen.line(f"{'recipe' if recipe else 'skill'} {word}", BOLD)
        await chat.take_turn(_session(chat).turn(prompts.expanded(_session(chat), line)))
    else:
        hint = guess(f"/{word}", names(chat))
        chat.screen.prose(f"There is no command /{word}.{hint} /help lists all.", BAD)


def _session(chat: Chat) -> Session:
    assert chat.session is not None  # noqa: S101 (commands are read in a session)
    return chat.session


# -- the commands


async def _help(chat: Chat, _rest: str) -> None:
    rows = [(f"/{name} {command.words}".rstrip(), command.help) for name, command in COMMANDS.items()]
    rows += [(f"/{name} [K=V]… [TEXT]", "Run this recipe.") for name in _recipes(chat)]
    rows += [(f"/{name} [TEXT]", "Use this skill.") for name in _skills(chat)]
    rows += [
        ("@PATH, Tab", "Name a file; an image goes to the model."),
        ("Alt-Enter", "Break the line."),
        ("Up, Down, Ctrl-R", "Past prompts."),
        ("Ctrl-C", "Stop the turn."),
        ("Ctrl-D", "The same as /exit."),
    ]
    width = max(len(words) for words, _ in rows)
    for words, text in rows:
        chat.screen.prose(f"{words:<{width}}  {text}", indent=INDENT, hang=" " * (width + 2))


async def _exit(chat: Chat, _rest: str) -> None:
    chat.leaving = True


async def _hooks(chat: Chat, _rest: str) -> None:
    """The hooks of this session, in the order in which they run, and what they have done so far."""
    if not chat.options.hooks:
        chat.screen.prose("Hooks are off in this session (--no-hooks).", indent=INDENT)
        return
    engine = _session(chat).engine
    catalog = engine.catalog.with_lines()
    states = {gate.id: gate for gate in gates(engine.setup, catalog)}
    hooks = [hook for hook in catalog.hooks if hook.scope != "builtin"]
    for line, hook in zip_longest(drawn(hook_table(hooks, states)), hooks):
        column = f"{'':<10}"
        chat.screen.prose(line.replace("anyhook trust", "/trust"), indent=INDENT, hang=column)
        if hook is not None:
            chat.screen.prose(_about(chat, hook), FAINT, f"{INDENT}{column}")
    for problem in catalog.problems:
        chat.screen.prose(problem.sentence(), WARN, INDENT)


def _about(chat: Chat, hook: Hook) -> str:
    """Where a hook comes from, how it runs, and what it has done in this session."""
    told = [tilde(hook.where().removeprefix(f"{chat.options.project}/"), chat.options.env)]
    told += ["in the background"] if hook.background else []
    told += [f"priority {hook.priority}"] if hook.priority is not None else []
    if ran := chat.activity.ran[hook.id]:
        told.append(f"ran {ran}×, blocked {chat.activity.blocked[hook.id]}×")
    return ", ".join(told)


async def _compact(chat: Chat, _rest: str) -> None:
    session = _session(chat)
    before = len(session.history)
    turn = await chat.work(session.compact())
    if turn is None:
        chat.screen.prose("Stopped; the conversation stays as it is.", WARN)
    elif turn.stop == DONE:
        chat.screen.prose(f"Compacted: {before} messages have become a summary of {len(turn.text):,} characters.")
    else:
        chat.screen.prose(f"Not compacted: {turn.why}.", WARN if turn.stop == BLOCKED else BAD)


async def _trust(chat: Chat, _rest: str) -> None:
    if await approval.review(chat):
        await _session(chat).reread_hooks()
        await _session(chat).equip()
        chat.screen.prose("They run from now on; those of the session's start, in the next session.", FAINT)


async def _resume(chat: Chat, rest: str) -> None:
    here = _session(chat)
    others = [each for each in past_sessions(here.kept) if each.id != here.id]
    if not others:
        chat.screen.line("There is no other session of this project.", indent=INDENT)
        return
    if not rest:
        _list_sessions(chat, others)
        rest = await chat.keyboard.answer("Which one? Its number, or Enter for none:")
    chosen = [each for each in others if rest and each.id.startswith(rest)]
    if rest.isdigit() and 0 < int(rest) <= len(others):
        chosen = [others[int(rest) - 1]]
    if len(chosen) == 1:
        await chat.resume(chosen[0].id)
    elif rest.isprintable() and rest:
        chat.screen.prose(f"{rest}: {'several sessions begin so' if chosen else 'there is no such session'}.", BAD)


def _list_sessions(chat: Chat, sessions: Sequence[PastSession]) -> None:
    is_wide = shutil.get_terminal_size((80, 24)).columns >= WIDE
    for number, each in enumerate(sessions, 1):
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(each.when_s))
        row = f"{number:>2}  {when}  {each.turns:>3} turns  {f'{each.id}  ' if is_wide else ''}{each.began}"
        chat.screen.line(Screen.fitted(INDENT + row))


async def _clear(chat: Chat, _rest: str) -> None:
    await chat.resume(None, reason="clear")


async def _model(chat: Chat, rest: str) -> None:
    session = _session(chat)
    if not rest:
        chat.screen.prose(f"{session.model_name}. /model PROVIDER:NAME uses another one.", indent=INDENT)
        return
    await session.use_model(rest)
    chat.options = dataclasses.replace(chat.options, model=rest)
    chat.screen.prose(f"{rest} answers from now on.", indent=INDENT)


async def _cost(chat: Chat, _rest: str) -> None:
    chat.screen.line(_session(chat).spent.line(), indent=INDENT)


async def _tools(chat: Chat, _rest: str) -> None:
    for name in _session(chat).equipment.tool_names:
        chat.screen.line(name, indent=INDENT)


async def _undo(chat: Chat, _rest: str) -> None:
    try:
        undone = chat.snapshots.undo()
    except NoSnapshot as error:
        chat.screen.prose(f"There is nothing to undo: {error}.", WARN, INDENT)
        return
    if undone.restored:  # the model believes otherwise
        told = f"The user undid your changes of the last turn to: {', '.join(undone.restored)}"
        _session(chat).lifecycle.waiting.append(told)
    for path in undone.restored:
        chat.screen.line(f"put back  {visible(path)}", indent=INDENT)
    for path in undone.left:
        chat.screen.line(f"left alone, since it was changed afterwards  {visible(path)}", WARN, INDENT)
    for path, why in undone.failed.items():
        chat.screen.line(f"could not be put back  {visible(path)}: {why}", BAD, INDENT)
    if not undone.restored and not undone.left and not undone.failed:
        chat.screen.prose("The last turn changed no file that is kept.", indent=INDENT)
    if undone.unkept:
        chat.screen.prose(f"Only files of write_file and edit_file were kept: {undone.unkept}.", WARN, INDENT)
    elif undone.commands:
        chat.screen.prose(UNKEPT, FAINT, INDENT)


async def _agents(chat: Chat, _rest: str) -> None:
    for each in _session(chat).equipment.all_types:
        limits = f"  ({', '.join(each.tools)})" if each.tools is not None else ""
        chat.screen.prose(visible(f"{each.name}: {each.description}{limits}"), indent=INDENT, hang=INDENT)


async def _servers(chat: Chat, rest: str) -> None:
    if rest:
        if rest != RESTART:
            raise BadCall(f"/mcp {rest}: must be {RESTART}, or nothing.{guess(rest, [RESTART])}")
        await chat.work(_session(chat).equip(), "the MCP servers")
    equipment = _session(chat).equipment
    await chat.work(equipment.check_servers(), "the MCP servers")
    for server in equipment.all_servers:
        count = f"{len(server.tools)} tool{'' if len(server.tools) == 1 else 's'}"
        why = f": {server.why}" if server.why else ""
        chat.screen.prose(f"{server.name}  {server.status}{why or f', {count}'}", indent=INDENT, hang=INDENT)
    if not equipment.all_servers:
        chat.screen.prose("No MCP servers. The project's are in .mcp.json, yours in the settings.", indent=INDENT)


async def _create_hook(chat: Chat, rest: str) -> None:
    await create_hook(chat, rest)


COMMANDS = {
    "help": SlashCommand("", "List the commands.", _help),
    "hooks": SlashCommand("", "List the hooks of this session, and which wait for approval.", _hooks),
    "trust": SlashCommand("", "Show what the project's hooks would run, and approve it.", _trust),
    "create-hook": SlashCommand("DESCRIPTION", "Let the model write a hook.", _create_hook),
    "compact": SlashCommand("", "Replace the conversation with a summary of it.", _compact),
    "undo": SlashCommand("", "Put the files back that tools changed in the last turn.", _undo),
    "clear": SlashCommand("", "Start a new session, with an empty conversation.", _clear),
    "model": SlashCommand("[NAME]", "Show the model, or go on with another one.", _model),
    "tools": SlashCommand("", "List the agent's tools.", _tools),
    "agents": SlashCommand("", "List the types of sub-agents.", _agents),
    "mcp": SlashCommand(f"[{RESTART}]", "List the MCP servers, or connect all of them again.", _servers),
    "cost": SlashCommand("", "Show what the session has used, and what it cost.", _cost),
    "resume": SlashCommand("[ID]", "Continue another session of this project.", _resume),
    "exit": SlashCommand("", "End the session.", _exit),
}


# -- recipes and skills


def _skills(chat: Chat) -> list[str]:
    return [name for name in prompts.skills(_session(chat)) if name not in COMMANDS]


def _recipes(chat: Chat) -> list[str]:
    return [name for name in prompts.recipes(_session(chat)) if name not in COMMANDS]


# -- earlier sessions of the project: when, how long, and their first prompt


MAX_SESSIONS = 20
"""Nobody reads a longer list."""


@dataclass
class PastSession:
    """One session that can be resumed."""

    id: str
    when_s: float
    turns: int
    began: str
    """The start of the first prompt."""


def past_sessions(kept: Conversations) -> list[PastSession]:
    """The latest first. Sessions that cannot be read are left out, because they cannot be resumed either."""
    found: list[PastSession] = []
    for when_s, identity in kept.by_time()[:MAX_SESSIONS]:
        conversation = kept.load(identity)
        if conversation is None:
            continue
        try:
            said = plain(ModelMessagesTypeAdapter.validate_python(conversation.messages))
        except ValidationError:
            continue
        began = next((message["content"] for message in said if message["role"] == "user"), "")
        found.append(PastSession(identity, when_s, conversation.turns, " ".join(began.split())))
    return found
