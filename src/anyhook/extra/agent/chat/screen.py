"""What the user sees while the agent works: the model's text as it arrives, a line for each tool call, its result, and
each hook that did something."""

from __future__ import annotations

import difflib
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar

from prompt_toolkit.utils import get_cwidth
from pydantic_ai.messages import (
    AgentStreamEvent,
    BinaryContent,
    FunctionToolCallEvent,
    FunctionToolResultEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
)
from rich.cells import set_cell_size
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Heading, Markdown
from rich.text import Text

from anyhook.cli import render
from anyhook.cli.view.console import BAD, BOLD, FAINT, GOOD, PLAIN, drawn
from anyhook.cli.view.text import visible, wrapped
from anyhook.extra.agent.status_line import INDENT, StatusLine, nesting
from anyhook.extra.frameworks.plain_values import text_of
from anyhook.model import lean_json
from anyhook.model.json_types import Json

MIN_WIDTH, MAX_WIDTH = 40, 120
"""Of the model's text."""
DRAWN = "drawn"
"""Marks text that already has colours."""
RESULT_LINES = 4
"""How many lines of a tool's result are shown; the model gets all of it."""
MAX_ARGUMENT = 60
TAB = 4
STDOUT_MARK = "[stdout]"
"""The shell tool's marker for a stream, which people do not need."""


class Screen:
    """The terminal below the prompt."""

    def __init__(self, colour: bool, env: Mapping[str, str], project: str = ".") -> None:
        self.colour = colour
        self.status = StatusLine(sys.stdout, env, lambda: self.fresh and self._held is None)
        self.fresh = True
        """Whether the cursor is at the start of a line."""
        self._held: list[tuple[str, str]] | None = None
        """Output that waits until a question is answered; None if there is no question."""
        self._words = MarkdownStream(self._block)
        self.project = project
        self._edited: dict[str, tuple[str, str | None]] = {}
        """Calls that change a file, by id: the file, and its previous text."""
        self.asked: list[tuple[str, str]] = []
        """The diff that the last question was about."""
        self.explained = ""
        """The reason, as shown, why a hook has just denied a tool."""
        self._latest = ""
        """The id of the tool call whose line was written last, as long as no other call's result is below it."""

    def line(self, text: str = "", style: str = PLAIN, indent: str = "") -> None:
        """Write whole lines, below any unfinished one."""
        self.settle()
        for each in text.split("\n"):
            self._write(f"{indent}{each}", style)

    def _write(self, line: str, style: str) -> None:
        if self._held is not None:
            self._held.append((line, style))
            return
        self.status.wipe()
        if style == DRAWN:
            render.drawn_line(line)
        else:
            render.piece(f"{line}\n", style if self.colour else PLAIN)

    def prose(self, text: str, style: str = PLAIN, indent: str = "", hang: str = "") -> None:
        """The same for sentences, wrapped between words. `hang` comes before every line but the first."""
        width = shutil.get_terminal_size((80, 24)).columns - get_cwidth(indent)
        for each in text.split("\n"):
            for line in wrapped(each, width, hang):
                self.line(line, style, indent)

    def interrupted(self) -> None:
        """The terminal has written `^C` where the cursor was."""
        if not self.status.wipe():
            self.fresh = False

    def settle(self) -> None:
        """Finish the model's text and the current line."""
        self._words.end()
        if not self.fresh:
            self.fresh = True
            self._write("", PLAIN)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """While the user is asked, everything else is shown afterwards."""
        self.settle()
        self.status.wipe()
        self._held = []
        try:
            yield
        finally:
            held, self._held = self._held, None
            self.fresh = True
            for line, style in held:
                self._write(line, style)

    # -- the model's stream

    def stream(self, event: AgentStreamEvent) -> None:
        """One event of the framework's stream. A sub-agent's text goes to its caller; its tools are shown."""
        outer = nesting()
        inner = bool(outer)
        if isinstance(event, FunctionToolCallEvent):
            self.line(self.fitted(f"{outer}● " + call_line(event.part.tool_name, event.part.args_as_dict())), BOLD)
            self._latest = event.part.tool_call_id
            if path := edited_path(event.part.tool_name, event.part.args_as_dict()):
                self._edited[event.part.tool_call_id] = (path, text_now(path, self.project))
        elif isinstance(event, FunctionToolResultEvent):
            self._result(event, outer + INDENT)
        elif isinstance(event, PartStartEvent) and isinstance(event.part, TextPart) and not inner:
            self.settle()
            self._said(event.part.content)
        elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta) and not inner:
            self._said(event.delta.content_delta)

    def _said(self, text: str) -> None:
        """Text of the model: complete blocks stay; an unfinished one is shown up to its current end."""
        self._words.add(text)
        if tail := self._words.unfinished:
            self.status.hint(self.fitted(tail))

    def _block(self, text: str) -> None:
        width = max(MIN_WIDTH, min(MAX_WIDTH, shutil.get_terminal_size((80, 24)).columns - 1))
        for line in [*rendered(text, width, colour=self.colour), ""]:
            self._write(line, DRAWN)

    def _result(self, event: FunctionToolResultEvent, indent: str) -> None:
        part = event.part
        text = _shown(part.content).strip()
        if part.outcome != "success" and self.explained and self.explained in text:
            return  # the hook that denied it was just named, with its reason
        if part.tool_call_id != self._latest:
            text = f"{part.tool_name}: {text}"  # tools of one step run in parallel; it is not the last line above
            self._latest = ""
        if part.outcome == "success" and self._edit(part.tool_call_id, indent):
            return
        lines = [line for line in text.split("\n") if line != STDOUT_MARK]
        if part.outcome == "success":
            self._beginning(lines, FAINT, indent)
        else:  # a reason, which people want to read to its end
            width = shutil.get_terminal_size((80, 24)).columns - get_cwidth(indent) - 1
            self._beginning([piece for line in lines for piece in wrapped(line, width)], BAD, indent)

    def _edit(self, call_id: str, indent: str) -> bool:
        """Show what a call has changed; False if there is nothing to show, or if its diff was already shown."""
        path, old = self._edited.pop(call_id, ("", None))
        new = text_now(path, self.project) if path else None
        made = diff_lines(path, old, new) if old is not None and new is not None else []
        asked, self.asked = self.asked, []
        if not changes(made) or changes(made) == changes(asked):
            return False
        for line, style in made:
            self.line(line, style, indent)
        return True

    def reminder(self, answer: str) -> None:
        """Where the resumed conversation left off."""
        if answer.strip():
            self.line("… the last answer was:", FAINT)
            self._beginning(answer.strip().split("\n"), FAINT, INDENT)

    def _beginning(self, lines: list[str], style: str, indent: str) -> None:
        for each in lines[:RESULT_LINES]:
            self.line(self.fitted(indent + each.rstrip()), style)
        rest = len(lines) - RESULT_LINES
        if rest > 0:
            self.line(f"{indent}… {rest} more line{'' if rest == 1 else 's'}", FAINT)

    @staticmethod
    def fitted(text: str) -> str:
        """One line of the terminal's width, with control characters escaped."""
        text = visible(text.expandtabs(TAB))
        width = max(40, shutil.get_terminal_size((80, 24)).columns)
        if get_cwidth(text) < width:
            return text
        return f"{set_cell_size(text, width - 2)}…"


def _shown(content: object) -> str:
    """A tool's result for a person, who cannot read an image."""
    if isinstance(content, BinaryContent):
        return f"[{content.media_type}, {len(content.data):,} bytes]"
    if isinstance(content, list) and any(isinstance(each, BinaryContent) for each in content):
        return "\n".join(map(_shown, content))
    return text_of(content)


def call_line(tool: str, given: Mapping[str, Json]) -> str:
    """A tool call in one line: the value of its most important argument, the names of the others."""
    words: list[str] = []
    for number, (key, value) in enumerate(given.items()):
        text = value if isinstance(value, str) else lean_json.dumps(value, ensure_ascii=False)
        if number == 0:
            words.append(text)
        else:
            words.append(f"{key}={text if len(text) <= MAX_ARGUMENT else text[:MAX_ARGUMENT] + '…'}")
    return "  ".join([tool, *words])


def tilde(path: str, env: Mapping[str, str]) -> str:
    """A path with `~` for the home folder."""
    home = os.path.realpath(env.get("HOME") or "/nowhere")
    return f"~{path[len(home) :]}" if path == home or path.startswith(f"{home}/") else path


# -- an edit as a diff, before a person allows it and after it happened: the path first, then the lines


MAX_LINES = 60
"""How many lines of a diff are shown."""
MAX_BYTES = 1_000_000
"""For a larger file only the path is shown."""


def edit_lines(tool: str, given: Mapping[str, Json], project: str) -> list[tuple[str, str]]:
    """The lines of an edit with their styles; [] for any other call."""
    path = edited_path(tool, given)
    if not path:
        return []
    old, new = ("", given.get("content")) if tool == "write_file" else (given.get("old_text"), given.get("new_text"))
    if tool == "write_file":
        old = text_now(path, project)
    return diff_lines(path, old, new) if isinstance(old, str) and isinstance(new, str) else []


def edited_path(tool: str, given: Mapping[str, Json]) -> str:
    """The file that a call changes; "" if it is not an edit."""
    path = given.get("path")
    return path if isinstance(path, str) and tool in ("write_file", "edit_file") else ""


def diff_lines(path: str, old: str, new: str) -> list[tuple[str, str]]:
    found = list(difflib.unified_diff(old.splitlines(), new.splitlines(), n=2, lineterm=""))[2:]
    lines = [(visible(line), _style(line)) for line in found[:MAX_LINES]]
    if len(found) > MAX_LINES:
        lines.append((f"… {len(found) - MAX_LINES} more lines", FAINT))
    return [(visible(path), BOLD), *lines]


def changes(lines: list[tuple[str, str]]) -> list[str]:
    """What a diff adds and removes, without the context lines."""
    return [text for text, style in lines if style in (GOOD, BAD)]


def text_now(path: str, project: str) -> str | None:
    """The current text; None if it cannot be shown."""
    path = os.path.join(project, path)
    try:
        if os.path.getsize(path) > MAX_BYTES:
            return None
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError):
        return None


def _style(line: str) -> str:
    return {"+": GOOD, "-": BAD, "@": FAINT}.get(line[:1], PLAIN)


# -- the model's text as it arrives, rendered as markdown. A block is drawn once it is complete, so that nothing on
# the screen has to be redrawn; `unfinished` returns the rest


FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
CODE_THEME = "ansi_dark"
"""The terminal's own colours, which fit light and dark themes."""


class _Title(Heading):
    """A left-aligned heading."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        yield Text("")
        yield Text.assemble(self.text, style="bold underline" if self.tag == "h1" else "bold")


class _ChatMarkdown(Markdown):
    elements: ClassVar = {**Markdown.elements, "heading_open": _Title}


def rendered(text: str, width: int, *, colour: bool) -> list[str]:
    """A text as lines for the terminal, with control characters escaped."""
    made = _ChatMarkdown(visible(text, keep="\n\t"), code_theme=CODE_THEME, hyperlinks=False)
    lines = drawn(made, width, colour=colour)
    shown = [number for number, line in enumerate(lines) if COLOUR.sub("", line).strip()]
    return lines[shown[0] : shown[-1] + 1] if shown else []


class MarkdownStream:
    """One answer."""

    def __init__(self, draw: Callable[[str], None]) -> None:
        """`draw` gets each block when it is complete."""
        self._draw, self._text = draw, ""

    def add(self, text: str) -> None:
        self._text += text
        while (end := _first_block(self._text)) is not None:
            block, self._text = self._text[:end], self._text[end:]
            self._flush(block)

    def end(self) -> None:
        """Draw the rest: the answer is complete."""
        rest, self._text = self._text, ""
        self._flush(rest)

    @property
    def unfinished(self) -> str:
        """The line that is being written."""
        return self._text.rstrip().rpartition("\n")[2]

    def _flush(self, block: str) -> None:
        if block.strip():
            self._draw(block.strip("\n"))


def _first_block(text: str) -> int | None:
    """The end of the first complete block, or None. A blank line ends a block, unless it is in code."""
    at, fence, seen = 0, "", False
    while (end := text.find("\n", at)) >= 0:
        line = text[at:end]
        at = end + 1
        mark = FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip(" `~"):
                return at
        elif mark:
            fence = mark[1]
        elif not line.strip() and seen:
            return at
        seen = seen or bool(line.strip())
    return None
