"""Phrases that we do not use, what to write instead, and the search for them in text and in names."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sources import ROOT, nodes_of


@dataclass(frozen=True)
class Phrase:
    """A phrase to avoid. `pattern` is matched against text with single spaces, ignoring case."""

    pattern: str
    example: str
    instead: str
    why: str

    @property
    def compiled(self) -> re.Pattern[str]:
        return _compiled(self.pattern)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    assert not {"^", "$"} & {*pattern}, "several texts are looked at together"
    return re.compile(pattern, re.IGNORECASE)


@dataclass(frozen=True)
class Hit:
    place: str
    line: int
    text: str
    phrase: Phrase

    def __str__(self) -> str:
        return f"{self.place}:{self.line}: “{self.text}” → {self.phrase.instead} ({self.phrase.why})"


_PLACES = r"(?:in|inside|outside|at|on|under|below|above|beside|between|among|there|here|anywhere)"

PHRASES = (
    Phrase(
        r"(?<!there )\b(?:is|are|was|were) no (?!longer\b|more\b|other\b|different\b)[`a-z]",
        "the file is no JSON",
        "the file is not valid JSON",
        "negate the verb, not the noun",
    ),
    Phrase(
        r"\b(?:which|that|what|it|they|one|but) (?:is|are|was|were) none\b|\b(?:is|are) none of\b",
        "a line that is none",
        "a line that is not a record",
        "name the thing",
    ),
    Phrase(r"\bwhere there (?:is|are) none\b", "the name where there is none", "the name, or None", "if there is none"),
    Phrase(
        r"\b(?:leaves?|left|leaving) with (?:an? |the |another |any )?(?:exit |status\b|code\b|\d)",
        "it leaves with status 2",
        "it exits with status 2",
        "processes exit",
    ),
    Phrase(r"\bmend(?:s|ed|ing)?\b", "mend the line", "fix the line", "old-fashioned"),
    Phrase(r"\bcure[sd]?\b", "place, cause and cure", "place, cause and fix", "one word: fix"),
    Phrase(r"\banother make\b", "of another make", "from another version", "one word: version"),
    Phrase(r"\banew\b", "begun anew", "started again", "old-fashioned"),
    Phrase(r"\bthrice\b", "thrice", "three times", "old-fashioned"),
    Phrase(
        r"\b(?:shall|ought|hence|thus|whilst|whence|lest|thereof|therein|thereby|mishap)\b",
        "it shall run",
        "it must run",
        "old-fashioned",
    ),
    Phrase(r"\btold of\b", "hooks are told of", "hooks are not run", "say what happens"),
    Phrase(
        r"\bwhat (?:is|was) told\b"
        r"|\b(?:is|are|was|were) told (?:once|and|by|in|as|through|afterwards|below|there|here|apart)\b",
        "a damaged end is told and kept",
        "a damaged end is reported and kept",
        "people are told, things are reported",
    ),
    Phrase(
        r"\bis said (?:once|so|there|here|before|below|above|on)\b",
        "it is said once",
        "it is reported once",
        "things are reported",
    ),
    Phrase(r"\bnothing of\b", "nothing of it runs", "no part of it runs", "none of, no part of"),
    Phrase(r"\b(?:the )?whole of\b", "the whole of it", "all of it", "all of"),
    Phrase(r"\bby way of\b", "by way of the bridge", "through the bridge", "through"),
    Phrase(r"\bto be had\b", "bwrap is not to be had", "bwrap is not available", "available"),
    Phrase(r"\bunasked\b", "runs unasked", "runs without asking", "without asking"),
    Phrase(
        rf"\bstands? {_PLACES}\b(?! for\b)",
        "the key stands in the table",
        "the key is in the table",
        "data does not stand",
    ),
    Phrase(rf"\b(?:lies|lie|lay) {_PLACES}\b", "the file lies in the project", "the file is in the project", "nor lie"),
    Phrase(
        r"\b(?:came|comes?|became|becomes?) of (?:it|them|one|that|this|the|a|an|what|each|every)\b",
        "what came of it",
        "the result",
        "result, outcome",
    ),
    Phrase(r"\bhears? of\b", "the caller hears of it", "the caller is notified", "sees, is notified"),
    Phrase(r"\b(?:takes?|taken|took) up (?:again|another|one)\b", "taken up again", "resumed", "resume"),
    Phrase(
        r"\brow of hooks\b|\bends? (?:the|its) (?:whole )?row\b|'s row only\b",
        "a block ends the row",
        "a block skips the remaining hooks",
        "hook order, queue",
    ),
    Phrase(r"\bin whose\b", "the agent in whose loop it runs", "the agent whose loop runs it", "where, whose"),
    Phrase(r"\bof ours\b", "an entry of ours", "our entry", "say our, or anyhook's"),
    Phrase(r"\bso many\b", "so many bytes", "this many bytes", "how many, this many, a number"),
    Phrase(r"\bthrow-away\b", "a throw-away copy", "a temporary copy", "temporary"),
    Phrase(r"\bin words\b", "the reason in words", "the reason as text", "as text, or leave it out"),
    Phrase(
        r"\b(?:run|runs|passe?s?|carry|carries|starts?|started) (?:\w+ ){0,3}for nothing\b",
        "it runs for nothing",
        "it runs without need",
        "needlessly",
    ),
    Phrase(r"\bsees? (?:it|them) through\b", "sees them through", "waits for them to end", "say what happens"),
    Phrase(
        r"(?<!get )(?<!goes )(?<!got )\bas far as\b",
        "its answer as far as it is known",
        "its answer, if it is known",
        "if, what, those that",
    ),
    Phrase(r"\bbe it\b", "an object, be it empty", "an object, even an empty one", "old-fashioned"),
    Phrase(r"\bnotwithstanding\b", "its status notwithstanding", "in spite of its status", "old-fashioned"),
    Phrase(r"\bfor want of\b", "for want of memory", "without memory", "without, because there is no"),
    Phrase(
        r"\b(?:brings?|brought|comes?|came) along\b",
        "a hook that a product brings along",
        "a hook that is part of the product",
        "is part of, comes with",
    ),
    Phrase(
        r"\bwhom\b(?<!for whom)(?<!by whom)",
        "`model` is whom it asks",
        "`model` is the model it asks",
        "name the thing",
    ),
    Phrase(r"\b(?:is|are|was|were) to be (?!found\b)", "what is to be done", "what to do", "to, must, has to"),
    Phrase(r"\banother (?:\w+ )?than\b", "another agent than ours", "an agent other than ours", "other than"),
    Phrase(r"\bsaid of\b", "what is said of a rule", "the report of a rule", "about, the report of"),
    Phrase(
        r"\bof which (?:nobody|every|only|a|an|it|they|the|all|one)\b",
        "files of which every byte counts",
        "files that may not change at all",
        "that, whose, with",
    ),
    Phrase(
        r"\b(?:each|every|certain|which|its|own|the host's) moments?\b",
        "at every moment",
        "on every event",
        "event, point in the run",
    ),
    Phrase(
        r"(?:\bNone|\"\"|(?<![\w.])-?[01]|\bFalse|\bTrue|\bempty|\(\)|\{\}|\[\]) where\b",
        "the line, or None where there was no file",
        "the line, or None if there was no file",
        "`where` is a place, `if` a condition",
    ),
    Phrase(
        r"(?-i:\b[A-Z][a-z]+(?:[A-Z]\w*|Error)) where\b",
        "TooLarge where it does not fit",
        "raises TooLarge if it does not fit",
        "say that it raises",
    ),
    Phrase(r"\bwhoever\b", "whoever needs it says so", "the caller reports it", "name who does it"),
    Phrase(
        r"\b(?:in|of|by|with|from|for) whatever\b",
        "the facts of a call, in whatever words",
        "the facts of a call, with the names of any agent",
        "any, every, all",
    ),
    Phrase(
        r"\b(?:process|thread|task|file|line|journal|record|home|connection|terminal|folder|directory|word|conversation)"
        r"(?:es|s)? of (?:its|their|our|your) own\b",
        "in a process of its own",
        "in a separate process",
        "separate, new, its own",
    ),
    Phrase(
        r"\b(?:program|function|hook|guard|server|tool|project)s? of (?:yours|theirs)\b",
        "a program of yours",
        "your program",
        "your, their",
    ),
    Phrase(
        r"\bit (?:decides|prints|judges) nothing\b",
        "It decides nothing.",
        "It only collects problems.",
        "say what it does",
    ),
    Phrase(r"\bmakes? of\b", "what hooks make of a prompt", "what hooks change in a prompt", "say what happens"),
    Phrase(
        r"\b(?:says?|known) of\b",
        "what is known of an agent",
        "what is known about an agent",
        "about",
    ),
    Phrase(
        r"\bin (?:its|their|our|the host's|the agent's|that agent's) (?:own )?words\b",
        "answered in its own words",
        "answered in its own format",
        "format for answers, names for tools and fields",
    ),
    Phrase(
        r", for (?:it|they|then|nobody|there) (?:is|are|was|were|may|has|have|can|leave|would|could|knows|needs)\b",
        "it waits, for it may be full",
        "it waits because it may be full",
        "because",
    ),
    Phrase(r"\bin silence\b", "dropped in silence", "dropped silently", "silently, without a warning"),
    Phrase(r"\bfor good\b", "closed for good", "closed permanently", "permanently"),
    Phrase(r"\bfor the length of\b", "it exists for the length of one load", "it is used for one load", "for, during"),
    Phrase(r"\blooks? whether\b", "it looks whether it is open", "it checks whether it is open", "checks"),
    Phrase(r"\bnobody knows\b", "an agent that nobody knows", "an unknown agent", "unknown"),
    Phrase(r"\bby the (?:monotonic )?clock\b", "now, by the monotonic clock", "now, on the monotonic clock", "on"),
    Phrase(r"\bsteer(?:s|ed|ing)?\b", "what would steer a terminal", "what would control a terminal", "control"),
    Phrase(r"\bliving interpreter\b", "in a living interpreter", "in a long-lived interpreter", "long-lived"),
    Phrase(r"\bexclude each other\b", "they exclude each other", "they cannot be combined", "cannot be combined"),
    Phrase(r"\bsees? to (?:it|them|the|what)\b", "it sees to the others", "it serves the others", "say what happens"),
    Phrase(
        r"\b(?:is|are|was|were|be|been) passed over\b",
        "a missing program is passed over",
        "a missing program is ignored",
        "ignored, skipped",
    ),
    Phrase(r"\bgo(?:es)? by (?:an)?other names?\b", "it goes by another name", "it has another name", "has, is called"),
    Phrase(
        r"\bin \w+(?: \w+)?'s stead\b", "an answer in the user's stead", "an answer for the user", "for, instead of"
    ),
    Phrase(r"\bfor ever\b", "it waits for ever", "it waits forever", "one word"),
    Phrase(
        r"\ban? (?:name|payload|config|event|limit|id|format) of (?:its|their|our|your) own\b",
        "it has a name of its own",
        "it has its own name",
        "its own",
    ),
)

NAMES = {
    "most": "max",
    "least": "min",
    "longest": "max",
    "cure": "fix",
    "mend": "fix",
    "mended": "fixed",
    "mood": "scenario",
    "moods": "scenarios",
    "anew": "again",
    "unite": "combine",
    "united": "combined",
    "twin": "duplicate",
    "twins": "duplicates",
    "outlived": "one_shot",
    "moment": "timespec, event",
    "moments": "lifecycle, events",
}
"""Words that names do not use, and what to use instead."""


def _has_any(texts: Iterable[str]) -> bool:
    """Whether any of the texts has a phrase to avoid. One search over all texts is faster than many."""
    joined = "\n".join(" ".join(text.split()) for text in texts)
    return any(phrase.compiled.search(joined) for phrase in PHRASES)


def hits(place: str, text: str, line: int = 1) -> Iterator[Hit]:
    """Every phrase to avoid in a text. A phrase may continue on the next line."""
    joined = " ".join(text.split())
    if not _has_any([text]):
        return
    words, starts, lines, length = [], [], [], 0
    for number, each in enumerate(text.splitlines(), line):
        for word in each.split():
            words.append(word)
            starts.append(length)
            lines.append(number)
            length += len(word) + 1
    for phrase in PHRASES:
        for found in phrase.compiled.finditer(joined):
            yield Hit(place, lines[bisect_right(starts, found.start()) - 1], found.group(), phrase)


def hits_in_code(path: Path, with_values: bool = True) -> Iterator[Hit]:
    """Phrases in the docstrings, strings and comments of a module; `with_values` includes strings that the code uses. A
    string of one word is a key, not prose."""
    place, found = name_of(path), [*_texts(path, with_values)]
    if _has_any([text for _, text in found]):
        for line, text in found:
            yield from hits(place, text, line)


def _texts(path: Path, with_values: bool) -> Iterator[tuple[int, str]]:
    text = path.read_text(encoding="utf-8")
    values = nodes_of(path) if with_values else _statement_values(ast.parse(text))
    for value in values:
        if isinstance(value, ast.Constant) and isinstance(value.value, str) and " " in value.value:
            yield value.lineno, value.value
    # Most files have no phrase after any `#`, and finding the real comments takes much longer.
    if _has_any(line.partition("#")[2] for line in text.splitlines() if "#" in line):
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string


def _statement_values(node: ast.AST) -> Iterator[ast.AST]:
    """Expression statements, such as docstrings."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for inner in getattr(node, field, ()):
            if isinstance(inner, ast.Expr):
                yield inner.value
            else:
                yield from _statement_values(inner)


def names_in_code(path: Path) -> Iterator[str]:
    """Names of classes, functions, fields and constants that contain a word to avoid, with the word to use."""
    for line, name in _given(nodes_of(path)):
        for word in name.lower().strip("_").split("_"):
            if word in NAMES:
                yield f"{name_of(path)}:{line}: {name} → {NAMES[word]}"


def _given(nodes: tuple[ast.AST, ...]) -> Iterator[tuple[int, str]]:
    for each in nodes:
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield each.lineno, each.name
        if isinstance(each, ast.Module | ast.ClassDef):
            for inner in each.body:
                targets = inner.targets if isinstance(inner, ast.Assign) else [getattr(inner, "target", None)]
                yield from ((name.lineno, name.id) for target in targets for name in _names(target))


def _names(target: ast.AST | None) -> list[ast.Name]:
    return [name for name in ast.walk(target) if isinstance(name, ast.Name)] if target is not None else []


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()
