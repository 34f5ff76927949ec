"""Conditions: text → a tree of plain tuples that a plan can store. Every word is checked here, so a condition that
loads can be evaluated. An error says where the mistake is and what was probably meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from anyhook.model.event import EVENTS
from anyhook.model.lean_json import short_digest
from anyhook.model.record import Record
from anyhook.rules.marks import SPENT, nodes_of
from anyhook.rules.paths import CLASSES, compile_path
from anyhook.rules.secret_paths import SECRET_PATHS
from anyhook.rules.tokens import KEYWORDS, BadCondition, Token, choices, tokens
from anyhook.rules.wildcards import alternatives
from anyhook.tables.patterns import check_pattern, needed_texts
from anyhook.tables.registry import native_names
from anyhook.tables.shapes import guess

if TYPE_CHECKING:
    from anyhook.rules.paths import PathPattern

    Node = tuple[Any, ...]
    """The word of a condition, and its operands."""
    Condition = tuple[Node, tuple[str, ...], tuple[PathPattern, ...]]
    """A rule's condition, compiled: the tree, the marks (a call must have one of them), and the paths that do not
    count. Plain tuples, as a plan stores them."""
    Packed = tuple[bytes, tuple[str, ...], tuple[PathPattern, ...]]
    """The same in a plan, where the tree is bytes until the rule is asked (see `condition_of`)."""

PATHS = {
    "reads": ("reads",),
    "writes": ("writes",),
    "deletes": ("deletes",),
    "executable": ("makes_executable",),
    "permits": ("makes_executable", "changes"),
    "changes": ("writes", "deletes", "makes_executable", "changes"),
    "touches": ("reads", "writes", "deletes", "makes_executable", "changes"),
}
"""For each word, the fields of the facts that contain its paths."""
NAMED = {
    "connects": "HOST", "secret": "KIND", "unknown": "WHAT", "event": "EVENT", "tool": "TOOL", "agent": "AGENT",
    "project": "PATH", "subagent": "NAME", "mode": "MODE",
}  # fmt: skip
"""Words that are followed by names, and how messages call these."""
MAY_STAND_ALONE = ("connects", "secret", "unknown", "subagent", *PATHS)
PARTS = ("with", "without", "saying", "from", "via")
"""What may follow a program and its arguments."""
ABOUT_TEXT = ("saying", "adding")
"""What may follow paths."""
BY_THEMSELVES = ("failed", "clean", "told", "script", "loses")
"""Words that nothing follows."""
OVER = ("calls", "same calls", "same failures", "minutes", *SPENT)
"""What `over` can count,"""
PERIODS = ("session", "day")
"""and within what."""
ABOUT_IT = ("wrote", "downloaded", "leaked")
"""What `earlier` can say about the files that a call runs, `earlier wrote it`, or, the last, that it reads."""
ATOMS = ("runs", *PATHS, *NAMED, *BY_THEMSELVES, "matches", "over")
MAX_LENGTH, MAX_DEPTH = 20_000, 50


class Names(Record):
    """What a file defines for its conditions."""

    words: Mapping[str, str] = {}
    """`$name` → its text."""
    paths: Mapping[str, tuple[str, ...]] = {}
    """`@name` → its paths."""


def parse(text: str, names: Names | None = None) -> Node:
    """The tree of a condition; raises BadCondition if it cannot be read."""
    if len(text) > MAX_LENGTH:
        raise BadCondition(f"it is longer than {MAX_LENGTH:,} characters", 1, "Split it into several rules.")
    reading = _Reading(tokens(text), text, names or Names())
    tree = reading.condition()
    if reading.at < len(reading.tokens):
        raise reading.wrong("nothing should follow here", "Join conditions with `and` or `or`.")
    return tree


class _Reading:
    """Reads one condition from left to right."""

    def __init__(self, found: list[Token], text: str, names: Names) -> None:
        self.tokens, self.text, self.names = found, text, names
        self.at = self.depth = 0
        self.is_earlier = False
        """Whether this is the condition after `earlier`."""

    def next_is(self, *words: str) -> bool:
        return self.at < len(self.tokens) and self.tokens[self.at].is_word(*words)

    def take(self) -> Token:
        self.at += 1
        return self.tokens[self.at - 1]

    def wrong(self, what: str, fix: str) -> BadCondition:
        return BadCondition(what, self.column(), fix)

    def column(self) -> int:
        """Where the next word begins."""
        return self.tokens[self.at].column if self.at < len(self.tokens) else len(self.text) + 1

    def condition(self) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.wrong("brackets are nested too deeply", "Split it into several rules.")
        tree = self.either()
        while self.next_is("unless"):
            self.take()
            tree = ("and", (tree, ("not", self.either())))
        self.depth -= 1
        return tree

    def either(self) -> Node:
        parts = [self.both()]
        while self.next_is("or"):
            self.take()
            parts.append(self.both())
        return parts[0] if len(parts) == 1 else ("or", tuple(parts))

    def both(self) -> Node:
        parts = [self.negated()]
        while self.next_is("and"):
            self.take()
            parts.append(self.negated())
        return parts[0] if len(parts) == 1 else ("and", tuple(parts))

    def negated(self) -> Node:
        if self.next_is("not"):
            self.take()
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise self.wrong("`not` is repeated too often", "Say what is meant once.")
            inner = self.negated()
            self.depth -= 1
            return ("not", inner)
        if self.next_is("earlier"):
            return self.earlier()
        if not self.next_is("("):
            return self.atom()
        opened = self.take()
        tree = self.condition()
        if not self.next_is(")"):
            raise BadCondition("this bracket is not closed", opened.column, "Close it with `)`.")
        self.take()
        return tree

    def earlier(self) -> Node:
        """`earlier CONDITION`, with the key that it is remembered by, and its text for messages."""
        if self.is_earlier:
            raise self.wrong("`earlier` cannot be in `earlier`", "Write it once.")
        self.take()
        begins, self.is_earlier = self.column(), True
        inner = self.negated()
        self.is_earlier = False
        if inner[0] != "made" and any(node[0] == "made" for node in nodes_of(inner)):
            raise BadCondition("`it` is what this call runs", begins, "Write it alone: `earlier wrote it and …`.")
        return ("earlier", inner, short_digest(repr(inner)), self.text[begins - 1 : self.column() - 1].strip())

    def atom(self) -> Node:
        if self.at >= len(self.tokens) or self.next_is(*KEYWORDS, ")"):
            raise self.wrong("a condition is missing here", "Write one, as `runs git push --force`.")
        token = self.take()
        word = token.text
        if token.bare and word in ABOUT_IT and self.is_earlier and self.next_is("it"):
            self.take()
            return ("made", word)
        if not token.bare or word not in ATOMS:
            fix = f"Conditions begin with: {', '.join(ATOMS)}.{guess(word, ATOMS)}"
            raise BadCondition(f"`{word}` is not a condition", token.column, fix)
        if word == "runs":
            return self.program()
        if word in PATHS:
            return self.path(token)
        if word in BY_THEMSELVES:
            return (word,)
        if word == "matches":
            pattern = self.pattern()
            return (word, pattern, needed_texts(pattern))
        if word == "over":
            return self.over(token)
        if word == "connects":
            return self.hosts()
        return self.named(token)

    def over(self, verb: Token) -> Node:
        """`over N calls|same calls|minutes|tokens|dollars [per session|day]`."""
        if self.is_earlier:
            what = "`over` counts the whole session, so it cannot be in `earlier`"
            raise BadCondition(what, verb.column, "Join them with `and`.")
        limit = _number(self.tokens[self.at].text) if self.at < len(self.tokens) else None
        if limit is None:
            raise self.wrong("`over` needs a number", "Write it as `over 40 calls`.")
        self.take()
        counted = "same " if self.next_is("same") else ""
        self.at += len(counted) > 0
        word = self.tokens[self.at].text if self.at < len(self.tokens) else ""
        if (counted := counted + word) not in OVER:
            fix = f"It counts {', '.join(OVER)}.{guess(counted, OVER)}"
            raise self.wrong(f"`over` does not count `{counted}`", fix)
        self.take()
        if not self.next_is("per"):
            return ("over", limit, counted, PERIODS[0])
        self.take()
        if not self.next_is(*PERIODS):
            raise self.wrong("`per` needs `session` or `day`", "Write `per day`.")
        return ("over", limit, counted, self.take().text)

    def words(self, *ends: str) -> list[Token]:
        """The words up to a keyword, with every `$name` expanded."""
        found: list[Token] = []
        while self.at < len(self.tokens) and not self.next_is(*KEYWORDS, "(", ")", *ends):
            found.extend(self.expanded(self.take()))
        return found

    def expanded(self, token: Token) -> list[Token]:
        """Expand a word. `$name` alone may become several words, but one alternative of several only one."""
        parts = token.pattern.split("|")
        names = [part for part in parts if part.startswith("$") and part[1:].replace("-", "_").isidentifier()]
        known = self.names.words
        for name in names:
            if name[1:] not in known:
                fix = f"Define it under [words], or quote it.{guess(name[1:], known)}"
                raise BadCondition(f"`{name}` is not defined in this file", token.column, fix)
        if names and len(parts) == 1:
            return [part.replace(column=token.column) for part in tokens(known[names[0][1:]])]
        for name in names:
            if len(known[name[1:]].split()) != 1:
                fix = f"Write `{name}` as a separate word."
                raise BadCondition(f"`{name}` is several words, and cannot be an alternative", token.column, fix)
        made = "|".join(known[part[1:]] if part in names else part for part in parts)
        return [token.replace(pattern=made)]

    def many(self, ends: tuple[str, ...], after: Token, what: str) -> tuple[str, ...]:
        """At least one word; alternatives count separately."""
        found = tuple(each for token in self.words(*ends) for each in choices(token))
        if not found:
            raise self.wrong(f"`{after.text}` needs {what}", f"Write it after `{after.text}`.")
        return found

    def pattern(self) -> str:
        if self.at >= len(self.tokens) or self.next_is(*KEYWORDS, "(", ")"):
            raise self.wrong("a pattern is missing here", "Write it between slashes, as /drop table/.")
        token = self.take()
        wrong = check_pattern(f"(?i){token.text}")
        if wrong:
            raise BadCondition(wrong.replace("(?i)", ""), token.column, "Correct the regular expression.")
        return token.text

    def program(self) -> Node:
        """`runs NAME WORDS [with …] [without …] [saying /…/] [from …] [via …]`, or `runs every NAMES`."""
        runs = self.tokens[self.at - 1]
        if self.next_is("every"):
            return ("only", self.many((), self.take(), "the programs, as `runs every ls|cat`"))
        found = self.words(*PARTS)
        if not found and self.next_is(*PARTS):
            raise self.wrong("`runs` needs a program", "Write its name, as `runs git push`.")
        found = found or tokens("*")
        name, *rest = found
        operands = tuple(choices(token) for token in rest if not token.text.startswith("-"))
        options = tuple(choices(token) for token in rest if token.text.startswith("-"))
        parts: dict[str, object] = {}
        while self.next_is(*PARTS):
            part = self.take()
            if part.text in parts:
                raise BadCondition(f"`{part.text}` is here twice", part.column, "Put all its words behind one.")
            if part.text == "saying":
                parts[part.text] = self.pattern()
            else:
                parts[part.text] = self.many(PARTS, part, "a word")
        return (
            runs.text, choices(name), operands, options, parts.get("with", ()), parts.get("without", ()),
            parts.get("saying", ""), parts.get("from", ()), parts.get("via", ()),
        )  # fmt: skip

    def path(self, verb: Token) -> Node:
        """`writes [every] PATHS [[not] by PROGRAMS] [saying|adding /…/]`."""
        every = self.next_is("every")
        if every:
            self.take()
        found = tuple(pattern for token in self.words("by", *ABOUT_TEXT) for pattern in self.path_patterns(token))
        if every and not found:
            raise self.wrong("`every` needs a path", "Name the paths, as `deletes every @temp`.")
        by: tuple[str, ...] = ()
        others = self.next_is("not") and self.at + 1 < len(self.tokens) and self.tokens[self.at + 1].is_word("by")
        if others:
            self.take()
        if self.next_is("by"):
            by = self.many(ABOUT_TEXT, self.take(), "the name of a program")
        about = (self.take().text, self.pattern()) if self.next_is(*ABOUT_TEXT) else ()
        return ("path", PATHS[verb.text], found, every, about, verb.text == "deletes", by, others)

    def path_patterns(self, token: Token) -> list[object]:
        made: list[object] = []
        for word in choices(token):
            name = word[1:]
            if word.startswith("@") and name in self.names.paths:
                made += [compile_path(each) for path in self.names.paths[name] for each in alternatives(path)]
            elif word.startswith("@") and name in SECRET_PATHS:
                made += [compile_path(each) for each in SECRET_PATHS[name]]
            elif word.startswith("@") and name not in CLASSES:
                known = [*CLASSES, *SECRET_PATHS, *self.names.paths]
                fix = f"Known: {', '.join(f'@{each}' for each in known)}.{guess(name, known)}"
                raise BadCondition(f"`{word}` is not a class of paths", token.column, fix)
            else:
                made.append(compile_path(word))
        return made

    def named(self, verb: Token) -> Node:
        found = self.words()
        if not found and verb.text not in MAY_STAND_ALONE:
            what = NAMED[verb.text].lower()
            raise self.wrong(
                f"`{verb.text}` needs the name of {'an' if what[0] in 'aeiou' else 'a'} {what}", "Name it."
            )
        if verb.text == "project":
            return ("project", tuple(pattern for token in found for pattern in self.path_patterns(token)))
        if verb.text == "event":
            names = [event for token in found for each in choices(token) for event in _events_named(each, token)]
            return ("event", tuple(dict.fromkeys(names)))
        return (verb.text, tuple(each for token in found for each in choices(token)))

    def hosts(self) -> Node:
        """`connects [every] HOSTS`."""
        every = self.next_is("every")
        if every:
            self.take()
        found = [each for token in self.words() for each in choices(token)]
        if every and not found:
            raise self.wrong("`every` needs a host", "Name the hosts, as `connects every localhost|127.*`.")
        return ("connects", tuple(found), every)


def _events_named(name: str, token: Token) -> tuple[str, ...]:
    """The canonical events of a name: a canonical name, or any dialect's own, which may mean two events."""
    if name in EVENTS:
        return (name,)
    natives = native_names()
    if name not in natives:
        fix = f"Events: {', '.join(EVENTS)}; any dialect's own name will do.{guess(name, [*EVENTS, *natives])}"
        raise BadCondition(f"there is no event `{name}`", token.column, fix)
    return natives[name]


def _number(text: str) -> float | None:
    """A number as it is written in a rule: 40, 2.50, 200_000, 200k."""
    scaled = text[:-1] if text[-1:] in "kKmM" else text
    digits = scaled.replace("_", "").replace(".", "", 1)
    if not (digits.isascii() and digits.isdigit()):
        return None
    return float(scaled.replace("_", "")) * {"k": 1e3, "m": 1e6}.get(text[-1].lower(), 1)


def named_in(tree: Node, word: str) -> list[str]:
    """The names that a condition uses with this word, anywhere in it."""
    return [name for node in nodes_of(tree) if node[0] == word for name in node[1]]


def events_of(tree: Node, usual: str) -> frozenset[str]:
    """The events on which a condition can be true: those that it names, or else the usual one."""
    return frozenset(event or usual for event in _events(tree) or ("",))


def _events(tree: Node) -> frozenset[str] | None:
    """None if the condition names no event; "" means the usual event."""
    word = tree[0]
    if word == "event":
        return frozenset(tree[1])
    if word not in ("and", "or"):
        return None
    parts: Iterable[Node] = tree[1]
    found = [_events(part) for part in parts]
    named = [each for each in found if each is not None]
    if not named:
        return None
    if word == "and":
        return frozenset.intersection(*named)
    return frozenset.union(*[frozenset(("",)) if each is None else each for each in found])
