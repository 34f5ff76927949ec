"""Keyboard input: prompts with editing and history, and answers to questions. Ctrl-C and Ctrl-D are returned as values,
not raised as exceptions that could end the session."""

from __future__ import annotations

import os
import shutil
import sys
import termios
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, WordCompleter, merge_completers
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent
from prompt_toolkit.output import ColorDepth, create_output
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.utils import get_cwidth

from anyhook.cli.view.text import wrapped
from anyhook.platform.places import make_private_dir, open_regular, write_private

ANSWER_WIDTH = 5
"""Room for an answer after its question."""
MAX_HISTORY = 1 << 20
"""Bytes of what was typed; of more, the latest half stays."""
INTERRUPTED, ENDED = "\x03", "\x04"
"""What is returned for Ctrl-C and Ctrl-D; neither can be part of a line."""


class NamedFiles(Completer):
    """Completes `@path` with files of the project."""

    def __init__(self, project: str) -> None:
        self._project = project

    def get_completions(self, document: Document, _event: CompleteEvent) -> Iterator[Completion]:
        word = document.get_word_before_cursor(WORD=True)
        if not word.startswith("@"):
            return
        folder, _, begun = word[1:].rpartition("/")
        try:
            entries = sorted(os.scandir(os.path.join(self._project, folder)), key=lambda entry: entry.name)
        except OSError:
            return
        for entry in entries:
            hidden = entry.name.startswith(".") and not begun.startswith(".")
            if entry.name.startswith(begun) and not hidden:
                path = f"{folder}/{entry.name}" if folder else entry.name
                yield Completion(f"@{path}{'/' if entry.is_dir() else ''}", start_position=-len(word))


class Keyboard:
    """One terminal's keyboard."""

    def __init__(self, history: str, colour: bool, beside: Callable[[], str]) -> None:
        """`beside` is shown on the right while a line is typed."""
        output = create_output(sys.stdout)
        if isinstance(output, Vt100_Output):
            output.enable_cpr = False  # avoids a warning about terminals that do not report their cursor
        depth = None if colour else ColorDepth.DEPTH_1_BIT
        self._prompts: PromptSession[str] = PromptSession(
            history=_history(history), key_bindings=_bindings(), output=output, color_depth=depth,
            complete_while_typing=False, rprompt=beside,
        )  # fmt: skip
        self._answers: PromptSession[str] = PromptSession(
            history=InMemoryHistory(), output=output, color_depth=depth, enable_history_search=False
        )

    async def line(self, commands: Sequence[str], project: str) -> str:
        """The next prompt; INTERRUPTED or ENDED for Ctrl-C and Ctrl-D."""
        completer = merge_completers([WordCompleter(list(commands), sentence=True), NamedFiles(project)])
        return await _typed(self._prompts, "> ", completer)

    async def answer(self, question: str, indent: str = "") -> str:
        """A short answer, stripped and in lower case; or INTERRUPTED or ENDED. What was typed before the question was
        there is no answer to it."""
        clear_typeahead(self._answers.app.input)
        with suppress(termios.error, OSError, ValueError):
            termios.tcflush(sys.stdin, termios.TCIFLUSH)
        return (await self.text(question, indent)).lower()

    async def text(self, question: str, indent: str = "") -> str:
        width = shutil.get_terminal_size((80, 24)).columns - get_cwidth(indent) - ANSWER_WIDTH
        lines = [indent + line for line in wrapped(question, width)]
        return (await _typed(self._answers, "\n".join(lines) + " ")).strip()


@contextmanager
def unechoed() -> Iterator[None]:
    """While the agent works, keys are kept for the next prompt but not shown: they would be in the middle of what it
    writes. Ctrl-C still works."""
    try:
        before = termios.tcgetattr(sys.stdin)
        quiet = [*before[:3], before[3] & ~termios.ECHO, *before[4:]]
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, quiet)
    except (termios.error, OSError, ValueError):  # no terminal, or no longer
        yield
        return
    try:
        yield
    finally:
        with suppress(termios.error, OSError, ValueError):
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


async def _typed(session: PromptSession[str], message: str, completer: Completer | None = None) -> str:
    try:
        # Ctrl-C is a key here; the chat handles the signal.
        return await session.prompt_async(message, completer=completer, handle_sigint=False)
    except KeyboardInterrupt:
        return INTERRUPTED
    except EOFError:
        return ENDED


def _history(path: str) -> History:
    """In a file that only its owner can read; if that fails, only for this session."""
    try:
        make_private_dir(os.path.dirname(path))
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600))
        if os.path.getsize(path) > MAX_HISTORY:
            with open_regular(path) as file:
                latest = file.read()[-MAX_HISTORY // 2 :]
            write_private(
                path, latest[latest.find(b"\n\n#") + 1 :]
            )  # an entry begins with its time, after an empty line
    except OSError:
        return InMemoryHistory()
    return FileHistory(path)


def _bindings() -> KeyBindings:
    """Alt-Enter breaks the line; Enter alone sends it."""
    made = KeyBindings()

    @made.add("escape", "enter")
    def _break(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return made
