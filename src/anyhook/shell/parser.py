"""The parser of shell lines: simple commands, their words with what can be known filled in, and what they redirect. It
does not claim to be a shell: what it cannot know is marked as unknown. Only `read` uses it."""

from __future__ import annotations

from anyhook.shell.loose import is_assignment
from anyhook.shell.steps import UNKNOWN, Command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

OPERATORS = ("&&", "||", ";;", "|&", ";", "|", "&", "\n", "(", ")", "{ ", "} ")
REDIRECTIONS = ("<<<", "<<-", "<<", "&>>", "&>", ">>", ">|", ">&", "<&", "<>", ">", "<")
KEYWORDS = frozenset({"if", "then", "else", "elif", "do", "while", "until", "time", "!", "{", "}", "fi", "done"})
MAX_WORDS = 64
"""How many words one word with braces may become."""


class Line:
    """Takes one line apart. It lives as long as that."""

    def __init__(self, text: str, env: Mapping[str, str], home: str) -> None:
        self.text, self.home, self.place = text, home, 0
        self.known: dict[str, str] = {"HOME": home, **{name: env[name] for name in env if name.isidentifier()}}
        self.commands: list[Command] = []
        self.inner: list[str] = []
        """The text of command substitutions, to be taken apart as well."""
        self.words: list[str] = []
        self.targets: list[str] = []
        self.here: list[str] = []
        self.body = ""

    def take(self) -> list[Command]:
        """All commands, in order; those of substitutions last."""
        while self.place < len(self.text):
            self._next()
        self._end()
        return self.commands

    def _next(self) -> None:
        text, place = self.text, self.place
        if text[place] in " \t\r":
            self.place += 1
        elif text.startswith("\\\n", place):
            self.place += 2
        elif text[place] == "#" and (place == 0 or text[place - 1] in " \t\n;"):
            end = text.find("\n", place)
            self.place = len(text) if end < 0 else end
        elif text.startswith(("<(", ">("), place):
            self.words.append(self._substituted(place + 2))
        elif redirection := self._at(REDIRECTIONS):
            self._redirect(redirection)
        elif operator := self._at(OPERATORS):
            self.place += len(operator)
            if operator == "\n" and self.here:
                self._read_here()
            self._end(operator in ("|", "|&"))
        else:
            word = self._word()
            if word.isdigit() and self.text[self.place : self.place + 1] in ("<", ">"):
                return  # the number of a stream
            self.words.extend(_expanded(word))

    def _at(self, signs: tuple[str, ...]) -> str:
        return next((sign for sign in signs if self.text.startswith(sign, self.place)), "")

    def _redirect(self, sign: str) -> None:
        self.place += len(sign)
        while self.text[self.place : self.place + 1] in (" ", "\t"):
            self.place += 1
        if self.place >= len(self.text):
            return
        if sign == "<<<":
            self.body += self._word()
            return
        word = self._word()
        if sign.startswith("<<"):
            self.here.append(word)
        elif ">" in sign and not (sign == ">&" and (word.isdigit() or word == "-")):
            self.targets.append(word)

    def _read_here(self) -> None:
        """The lines up to the word that ends the document."""
        for word in self.here:
            lines = []
            while self.place < len(self.text):
                end = self.text.find("\n", self.place)
                end = len(self.text) if end < 0 else end
                line, self.place = self.text[self.place : end], end + 1
                if line.strip("\t") == word:
                    break
                lines.append(line)
            self.body += "\n".join(lines)
        self.here = []

    def _end(self, piped: bool = False) -> None:
        """The end of a simple command: variables in front are remembered for the rest of the line."""
        words = list(self.words)
        while words and (words[0] in KEYWORDS or is_assignment(words[0])):
            name, sign, value = words.pop(0).partition("=")
            if sign:
                self.known[name] = value
        if words and words[0] in ("export", "declare", "local", "readonly"):
            for word in words[1:]:
                name, sign, value = word.partition("=")
                if sign and name.isidentifier():
                    self.known[name] = value
        if words or self.targets:
            self.commands.append(Command(tuple(words), tuple(self.targets), self.body, piped))
        self.words, self.targets, self.body = [], [], ""

    # -- words

    def _word(self) -> str:
        made = ""
        first = self.place
        while self.place < len(self.text):
            sign = self.text[self.place]
            if sign in " \t\r\n;|&()<>":
                break
            if sign == "'":
                made += self._until("'")
            elif sign == '"':
                made += self._quoted()
            elif sign == "\\":
                made += self.text[self.place + 1 : self.place + 2]
                self.place += 2
            elif sign in "$`":
                made += self._variable()
            elif (
                sign == "~"
                and self.place == first
                and self.text[first + 1 : first + 2] in ("", "/", " ", ";", "&", "\n")
            ):
                made, self.place = made + self.home, self.place + 1
            else:
                made, self.place = made + sign, self.place + 1
        if self.place == first:  # a lone closing sign
            self.place += 1
        return made

    def _until(self, sign: str) -> str:
        end = self.text.find(sign, self.place + 1)
        end = len(self.text) if end < 0 else end
        found, self.place = self.text[self.place + 1 : end], end + 1
        return found

    def _quoted(self) -> str:
        made = ""
        self.place += 1
        while self.place < len(self.text) and self.text[self.place] != '"':
            sign = self.text[self.place]
            if sign == "\\" and self.text[self.place + 1 : self.place + 2] in ('"', "\\", "$", "`"):
                made, self.place = made + self.text[self.place + 1], self.place + 2
            elif sign in "$`":
                made += self._variable()
            else:
                made, self.place = made + sign, self.place + 1
        self.place += 1
        return made

    def _variable(self) -> str:
        """The value of a variable; the text of a substitution is kept, and its value unknown."""
        text, place = self.text, self.place
        if text[place] == "`":
            self.inner.append(self._until("`"))
            return UNKNOWN
        if text.startswith("$(", place):
            return self._substituted(place + 2)
        if text.startswith("${", place):
            end = text.find("}", place)
            name, self.place = text[place + 2 : end if end > 0 else len(text)], (end + 1 if end > 0 else len(text))
            plain = name.partition(":")[0].partition("-")[0]
            return self.known.get(plain, UNKNOWN) if plain.isidentifier() else UNKNOWN
        end = place + 1
        while end < len(text) and (text[end].isalnum() or text[end] == "_"):
            end += 1
        self.place = max(end, place + 1)
        name = text[place + 1 : end]
        return self.known.get(name, UNKNOWN) if name else "$"

    def _substituted(self, start: int) -> str:
        """Past a substitution that starts here; its value is unknown."""
        end = self._closing(start)
        self.inner.append(self.text[start:end])
        self.place = end + 1
        return UNKNOWN

    def _closing(self, place: int) -> int:
        depth = 1
        while place < len(self.text):
            depth += {"(": 1, ")": -1}.get(self.text[place], 0)
            if depth == 0:
                return place
            place += 1
        return len(self.text)


def _expanded(word: str) -> list[str]:
    """The words that `a{b,c}` stands for. Braces that were quoted are taken so too: a word too many does no harm."""
    made: list[str] = []
    left = [word]
    while left and len(made) + len(left) < MAX_WORDS:
        each = left.pop(0)
        start, end = _braces(each)
        if end:
            left += [each[:start] + part + each[end + 1 :] for part in each[start + 1 : end].split(",")]
        else:
            made.append(each)
    return made + left


def _braces(word: str) -> tuple[int, int]:
    """The first pair of braces with a comma and no braces in it; (0, 0) without one."""
    end = word.find("}")
    while end > 0:
        start = word.rfind("{", 0, end)
        if start >= 0 and "," in word[start:end]:
            return start, end
        end = word.find("}", end + 1)
    return 0, 0
