"""Files, links and copies that a line makes, for when it reads or runs them later."""

from __future__ import annotations

import os
import re

from anyhook.shell.program import UNKNOWN, Word
from anyhook.shell.scope import Stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from anyhook.shell.program import Program, Redirection
    from anyhook.shell.scope import Scope

FETCHERS = {
    "curl": ("-o", "--output"), "wget": ("-O", "--output-document"), "aria2c": ("-o", "--out"),
    "axel": ("-o", "--output"),
}  # fmt: skip
"""Programs that download, and the options that say where to."""
PROGRAM_FOLDER = re.compile(r"/(usr/)?(local/)?s?bin/")
LINKERS = ("ln", "cp", "install")


class MadeFiles:
    """The part of the interpreter that remembers what the line has made."""

    scope: Scope

    def _absolute(self, path: str) -> str:
        return os.path.normpath(os.path.join(self.scope.cwd or "/", path))

    def _keep(self, redirections: Sequence[Redirection], out: Stream) -> None:
        """Remembers what the line writes into a file, for when it runs or reads that file."""
        for each in redirections:
            if each.writes and each.target.known and (out.text is not None or out.origins):
                path = self._absolute(each.target.text)
                before = self.scope.files.get(path, Stream("")) if ">>" in each.sign else Stream("")
                self.scope.files[path] = before.then(out)

    def _fetch(self, program: Program) -> None:
        """Remembers into which file something was downloaded or written by `tee`."""
        if program.name == "tee":
            for word in program.words:
                if not word.text.startswith("-") and word.known:
                    self.scope.files[self._absolute(word.text)] = Stream(program.stdin, program.stdin_from)
            return
        options = FETCHERS.get(program.name)
        if options is None:
            return
        texts = [word.text for word in program.words]
        named = [
            texts[place + 1] for place, text in enumerate(texts[:-1]) if text in options or _bundles(text, options[0])
        ]
        urls = [text for text in texts if "/" in text and not text.startswith("-") and text not in named]
        if not named and (
            program.name == "wget" or any(_bundles(text, "-O") or text == "--remote-name" for text in texts)
        ):
            named = [url.rstrip("/").rpartition("/")[2].partition("?")[0] for url in urls]
        for name in named:
            if name not in ("-", "") and UNKNOWN not in name:
                self.scope.files[self._absolute(name)] = Stream(None, (program,))

    def _file(self, path: str) -> str | None:
        kept = self.scope.files.get(self._absolute(path))
        return kept.text if kept else None

    def _link(self, name: str, words: Sequence[Word]) -> None:
        """Remembers a link, or a copy of a program."""
        named = [word for word in words[1:] if not word.text.startswith("-")]
        if len(named) != 2 or not named[1].known or not named[0].text.startswith("/"):
            return
        if name == "ln" or PROGRAM_FOLDER.match(named[0].text):
            self.scope.links[self._absolute(named[1].text)] = named[0].text

    def _followed(self, word: Word, is_program: bool) -> Word:
        """A word that names a link or a copy which the line has made, as what it stands for. (A link that is only
        deleted stays a link.)"""
        if not word.known or "/" not in word.text:
            return word
        path, slash = self._absolute(word.text), "/" * word.text.endswith("/")
        for link, target in self.scope.links.items():
            if (path == link and (is_program or slash)) or path.startswith(f"{link}/"):
                return Word(made := target.rstrip("/") + path[len(link) :] + slash, made, word.globs)
        return word


def _bundles(text: str, option: str) -> bool:
    """Whether short options in one word end in this one: `-fsSLo`."""
    return text.startswith("-") and not text.startswith("--") and text.endswith(option[1:]) and len(option) == 2
