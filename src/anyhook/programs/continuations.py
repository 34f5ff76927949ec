"""Line continuations: a backslash before the end of a line, which a shell removes before it looks for words, operators
and variables. `r\\` and `m` on the next line are the word `rm`. The grammar does not know that, so readers of lines
remove them first."""

from __future__ import annotations

from anyhook.model.pattern import later

TYPE_CHECKING = False
if TYPE_CHECKING:
    State = tuple[int, int, int, list[str], list[int], list[tuple[str, bool, bool]]]

CONTINUED = "\\\n"
TRANSLATED = '$"'
"""Begins a text that a shell may translate; in the middle of a word, the grammar does not know it."""
ENDS = " \t\n;&|()<>"
"""Characters before which a word ends; a `#` after one of them begins a comment."""


STARTS = (";", "&", "|", "(", "{", "\n", "then", "do", "else", "elif", "if", "while", "until", "!", "time", "in", "")
"""What is before a word that can be reserved, such as `case`."""
PLAIN = later(r"[^\\$\"'`#(){}<\nce]+")
"""Characters that never mean anything to the scan; `c` and `e` begin `case` and `esac`."""
WORD = later(r"[^\s;&|()<>]*\Z")
SUBSHELL = ") "
BRACKETS = (")", SUBSHELL)
"""How `$(…)` and `(…)` end; the first is part of a word."""
MAX_AGAIN = 100


def joined(text: str) -> str:
    """The text without its continuations, and with `"…"` for `$"…"`. Continuations stay in single quotes, `$'…'`, and
    here-documents whose delimiter is quoted."""
    return _Scan(text).all() if CONTINUED in text or TRANSLATED in text else text


class _Scan:
    """Walks over a text with a stack of what is open: `"`, `)`, `}`, by how they end; `))` is a bracket in which there
    are no comments, `case` or here-documents: a shell looks for the end of `$((` without them."""

    def __init__(self, text: str) -> None:
        self.text, self.made = text, [""]
        self.at, self.kept = 0, 0
        self.inside = -1
        """Where a word goes on after an escaped character or a substitution, whatever that ends with."""
        self.open: list[str] = []
        self.cases = [0]
        """How many `case` are open, for each expected `)` and for the whole text: their patterns end with one."""
        self.not_arithmetic: set[int] = set()
        self.tries: dict[int, State] = {}
        """Where each open `((` is in the stack, and the scan's state before it."""
        self.waiting: list[tuple[str, bool, bool]] = []
        """Here-documents that begin on the next line: the delimiter, whether it is quoted, whether tabs are removed."""

    def all(self) -> str:
        while self.at < len(self.text) or self.tries:
            if self.at < len(self.text):
                self._step()
            else:  # what was never closed is not arithmetic
                self._again(self.tries[min(self.tries)])
        self._copy(len(self.text))
        return "".join(self.made)

    def _copy(self, end: int) -> None:
        self.made.append(self.text[self.kept : end])
        self.kept = end

    def _drop(self) -> None:
        """A continuation."""
        self._copy(self.at)
        self.inside += 2 if self.inside == self.at else 0
        self.at += 2
        self.kept = self.at

    def _ahead(self, count: int) -> str:
        """The next characters, as a shell sees them."""
        piece = self.text[self.at : self.at + count]
        if "\\" not in piece:
            return piece
        end = self.at + count
        while CONTINUED in (piece := self.text[self.at : end]):
            made = piece.replace(CONTINUED, "")
            if len(made) >= count or end >= len(self.text):
                return made[:count]
            end += count - len(made)
        if piece.endswith("\\") and self.text[end : end + 1] == "\n":
            return (piece[:-1] + self.text[end + 1 : end + 2])[:count]
        return piece[:count]

    def _take(self, count: int) -> None:
        """Passes over characters, and removes the continuations between them."""
        while count and self.at < len(self.text):
            if self.text.startswith(CONTINUED, self.at):
                self._drop()
            else:
                self.at += 1
                count -= 1

    def _before(self) -> str:
        """The last character that counts, "" at the start."""
        if self.kept < self.at:
            return self.text[self.at - 1]
        return next((piece[-1] for piece in reversed(self.made) if piece), "")

    def _step(self) -> None:
        plain = PLAIN.match(self.text, self.at)
        if plain is not None:
            self.at = plain.end()
            return
        sign = self.text[self.at]
        mode = self.open[-1] if self.open else ""
        if sign == "\\":
            self._escaped()
        elif sign == "$":
            self._dollar(mode)
        elif sign == "`":
            self._backticks()
        elif sign == '"' == mode:
            self.at += 1
            self.open.pop()
        elif sign == '"':
            self._push(1, sign)
        elif mode == '"':
            self.at += 1
        elif sign == "'" and not self._in_quoted_braces():
            end = self.text.find("'", self.at + 1)
            self.at = end + 1 if end >= 0 else len(self.text)
        elif mode and sign == mode[0]:
            self._close(mode)
        elif mode not in ("}", "))"):
            self._code(sign)
        else:
            self._bracket(sign, mode)

    def _escaped(self) -> None:
        if self.text.startswith(CONTINUED, self.at):
            self._drop()
        else:
            self.at += 2
            self.inside = self.at

    def _in_quoted_braces(self) -> bool:
        """Whether this is in `"${…}"`, where a single quote is a plain character."""
        return self.open[-1:] == ["}"] and '"' in self.open

    def _bracket(self, sign: str, mode: str) -> None:
        """A character in `${…}` or in arithmetic: one that opens something, or a plain one."""
        if sign == "(" and mode == "))":
            self._push(1, mode)
        elif sign == "(" and self._before() in ("<", ">"):
            self._push(1, ")")
        else:
            self.at += 1

    def _push(self, count: int, mode: str) -> None:
        self._take(count)
        self.open.append(mode)
        if mode in BRACKETS:
            self.cases.append(0)

    def _close(self, mode: str) -> None:
        if mode in BRACKETS and self.cases[-1]:  # it ends a pattern
            self.at += 1
            return
        self._take(1)
        self.open.pop()
        if mode in BRACKETS:
            self.cases.pop()
        if mode != SUBSHELL:
            self.inside = self.at
        tried = self.tries.pop(len(self.open), None)
        if tried is not None and self._ahead(1) != ")":  # not `((…))` but `( (…) … )`
            self._again(tried)

    def _again(self, before: State) -> None:
        """Goes back to two brackets that are not arithmetic."""
        place, self.at, self.kept, self.open, self.cases, self.waiting = before
        del self.made[place:]
        self.tries = {depth: state for depth, state in self.tries.items() if depth < len(self.open)}
        self.not_arithmetic.add(self.at)

    def _arithmetic(self) -> bool:
        """Whether two brackets that begin here are arithmetic; tried once, and again if they do not end together."""
        if self.at in self.not_arithmetic or len(self.not_arithmetic) >= MAX_AGAIN:
            return False
        state = (len(self.made), self.at, self.kept, [*self.open], [*self.cases], [*self.waiting])
        self._push(2, "))")
        self.tries[len(self.open)] = state
        self.open.append("))")
        return True

    def _dollar(self, mode: str) -> None:
        ahead = self._ahead(3)
        if ahead[:2] == "$(":
            self._push(2, "))" if ahead == "$((" else ")")
        elif ahead[:2] == "${":
            self._push(2, "}")
        elif ahead[:2] == "$'" and mode != '"' and not self._in_quoted_braces():
            self._take(2)
            self._ansi()
        elif ahead[:2] == TRANSLATED and mode != '"':
            self._copy(self.at)
            self.at += 1
            self.kept = self.at
        else:
            self.at += 1

    def _backticks(self) -> None:
        """`` `…` ``: the shell looks for its end before it looks at quotes and comments, and removes continuations."""
        self.at += 1
        while self.at < len(self.text) and self.text[self.at] != "`":
            if self.text.startswith(CONTINUED, self.at):
                self._drop()
            else:
                self.at += 2 if self.text[self.at] == "\\" else 1
        self.at += 1

    def _ansi(self) -> None:
        """The rest of `$'…'`."""
        while self.at < len(self.text) and self.text[self.at] != "'":
            self.at += 2 if self.text[self.at] == "\\" else 1
        self.at += 1

    def _code(self, sign: str) -> None:
        """A character outside of quotes."""
        starts = self.inside != self.at and (self._before() == "" or self._before() in ENDS)
        if sign == "#" and starts:
            self._comment()
        elif sign == "(":
            self._open(starts)
        elif sign == "<" and self._ahead(3) == "<<<":
            self._take(3)
        elif sign == "<" and self._ahead(2) == "<<":
            self._here()
        elif sign == "\n" and self.waiting:
            self.at += 1
            self._bodies()
        elif starts and self._ahead(5).rstrip(ENDS) in ("case", "esac"):
            self._case(self._ahead(4))
        else:
            self.at += 1

    def _open(self, starts: bool) -> None:
        """`(`: a substitution of a process, arithmetic, or a subshell."""
        twice = self._ahead(2) == "(("
        if self._before() in ("<", ">"):
            self._push(1, "))" if twice else ")")
        elif not (starts and twice and self._arithmetic()):
            self._push(1, SUBSHELL)

    def _comment(self) -> None:
        """A comment ends with its line. A grammar that joins lines would lose the next one, so the backslash goes."""
        end = self.text.find("\n", self.at)
        end = end if end >= 0 else len(self.text)
        while self.text[end - 1] == "\\":
            end -= 1
        self._copy(end)
        while self.text[end : end + 1] == "\\":
            end += 1
        self.at = self.kept = end

    def _case(self, word: str) -> None:
        """`case` and `esac`, where they are reserved."""
        before = ("".join(self.made[-4:]) + self.text[self.kept : self.at])[-200:].rstrip(" \t")
        found = WORD.search(before)
        if (found is not None and found[0] in STARTS and found[0]) or before[-1:] in STARTS:
            self.cases[-1] = max(self.cases[-1] + (1 if word == "case" else -1), 0)
        self._take(4)

    def _here(self) -> None:
        """`<<E`, `<<-'E'`: the delimiter of a here-document."""
        self._take(2)
        tabs = self._ahead(1) == "-"
        self._take(int(tabs))
        while self._ahead(1) in (" ", "\t"):
            self._take(1)
        word, quoted = "", False
        while (sign := self._ahead(1)) and sign not in ENDS:
            self._take(1)
            if sign in "'\"":
                quoted = True
                end = self.text.find(sign, self.at)
                end = end if end >= 0 else len(self.text)
                word += self.text[self.at : end]
                self.at = end + 1
            elif sign == "\\":
                quoted = True
                word += self.text[self.at : self.at + 1]
                self.at += 1
            else:
                word += sign
        if word or quoted:
            self.waiting.append((word, quoted, tabs))

    def _bodies(self) -> None:
        """The here-documents that begin here."""
        for word, quoted, tabs in self.waiting:
            while self.at < len(self.text):
                line = self._raw() if quoted else self._logical()
                if (line.lstrip("\t") if tabs else line) == word:
                    break
        self.waiting = []

    def _raw(self) -> str:
        begin = self.at
        end = self.text.find("\n", begin)
        self.at = end + 1 if end >= 0 else len(self.text)
        return self.text[begin : end if end >= 0 else None]

    def _logical(self) -> str:
        """A line of a here-document that is expanded; its continuations go."""
        self._copy(self.at)
        copied = len(self.made)
        while self.at < len(self.text) and self.text[self.at] != "\n":
            if self.text.startswith(CONTINUED, self.at):
                self._drop()
            else:
                self.at += 2 if self.text[self.at] == "\\" else 1
        line = "".join(self.made[copied:]) + self.text[self.kept : self.at]
        self.at += 1
        return line
