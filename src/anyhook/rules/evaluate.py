"""Evaluate a condition on one call. The call's facts are computed once, when the first rule needs them."""

from __future__ import annotations

from _functools import partial  # type: ignore[import-not-found]  # `functools` is this and much more

from anyhook.model.record import Record
from anyhook.programs.paths import resolve
from anyhook.programs.program import UNKNOWN
from anyhook.programs.table import row_of
from anyhook.rules.marks import ANY, marks_of
from anyhook.rules.paths import CLASSES, Places, matches, matching
from anyhook.rules.programs import Words, asks_help, has_operands, has_option, sort_words
from anyhook.rules.wildcards import any_like, like
from anyhook.tables.patterns import compile_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterator
    from typing import Protocol

    from anyhook.model.event import Event
    from anyhook.model.json_types import Json
    from anyhook.programs.facts import Facts, Program
    from anyhook.rules.language import Condition, Node
    from anyhook.rules.paths import PathPattern

    class SessionPast(Protocol):
        """What a call can see of its session; either raises if that is not known."""

        def told(self, key: str, text: str, spared: tuple[PathPattern, ...] = ()) -> Before | None:
            """The earlier call that met a condition; None if there is none. Paths that a rule leaves out do not
            count."""

        def made_it(self, how: str) -> Before | None:
            """The earlier call that wrote, or downloaded, a file that this one runs; None if there is none."""

        def came_back(self) -> Before | None:
            """The earlier call that printed a secret which is in this one; None if there is none."""

        def is_service(self, host: str) -> bool:
            """Whether the secrets that came back in this call belong to the service at this host."""

        def is_over(self, limit: float, counted: str, period: str) -> bool: ...

        def tells(self, counted: str, period: str) -> Before | None:
            """A number that the agent told, and when; None for what we count."""


MAX_TEXT = 200_000
"""How many characters of a text a pattern is matched against at once. A longer text is matched in parts."""
OVERLAP = 4_000


NOT_ASKED = "not asked"
CLEAN, TOLD, NOTHING_SAID = "clean", "told", "nothing"
"""Of what a tool printed: no secret is in it, or only such as are remembered; it is nothing."""
SERVICE = "@service"
"""In `connects`: the service that a secret in the call belongs to."""


class Before(Record):
    """What was before a call, and makes a rule hold for it."""

    text: str
    call: int = 0
    """The number of the earlier call in its session; 0 if it is not about one."""
    at_s: float = 0.0
    who: str = ""
    """What the session's memory knows that call by."""


class PastLost(Exception):  # noqa: N818 (it says what is wrong)
    """Why it is not known what the session did before."""


class RuleCall:
    """One event as rules see it."""

    def __init__(
        self,
        event: Event,
        agent: str,
        places: Places,
        make_facts: Callable[[], Facts],
        past: SessionPast | None = None,
        printed: Callable[[Event], str] | None = None,
    ) -> None:
        self.event, self.agent, self.places, self.past = event, agent, places, past
        self.printed = printed
        """What an event tells of what a tool printed: `clean`, `told`, or ""."""
        self._make_facts = make_facts
        self._facts: Facts | None = None
        self._parts: list[tuple[RuleCall, set[str]]] | None = None
        self._lost: str | None = NOT_ASKED
        self._words: dict[int, Words] = {}

    @property
    def facts(self) -> Facts:
        if self._facts is None:
            self._facts = self._make_facts()
        return self._facts

    def after(self, past: SessionPast) -> RuleCall:
        """The same call, now that what was before it is known: it is not read again."""
        self.past, self._parts = past, None
        return self

    def add_secret(self, what: str) -> None:
        """Another secret in the call, that its own facts do not show."""
        self._facts = self.facts.replace(secrets=(*self.facts.secrets, what))

    @property
    def parts(self) -> list[tuple[RuleCall, set[str]]]:
        """The parts of the files that the call runs, as calls, with their marks."""
        if self._parts is None:
            self._parts = []
            for facts in self.facts.parts:
                part = RuleCall(self.event, self.agent, self.places, partial(_as_is, facts), self.past, self.printed)
                self._parts.append((part, marks_of(facts) - {ANY}))
        return self._parts

    @property
    def lost(self) -> str | None:
        """What git would lose that nothing else has; "" if nothing, None if that is not known. Git is asked once."""
        if self._lost is NOT_ASKED:
            from anyhook.programs.losses import losses

            def is_in(name: str) -> Callable[[str], bool]:
                return lambda path: CLASSES[name](path, self.places)

            self._lost = losses(self.facts, is_in("temp"), is_in("build"))
        return self._lost

    def words(self, program: Program) -> Words:
        """A program's arguments, sorted once."""
        found = self._words.get(id(program))
        if found is None:
            found = self._words[id(program)] = sort_words(program.name, program.args)
        return found

    def field(self, name: str) -> str:
        return str(self.event.data.get(name) or "")


def _as_is(facts: Facts) -> Facts:
    return facts


class Hits:
    """What made a condition true, for templates and messages."""

    def __init__(self, spared: tuple[PathPattern, ...] = ()) -> None:
        self.paths: list[str] = []
        self.earlier: list[Before] = []
        """What was before, and counts: calls, and numbers that the agent told."""
        self.spared = spared
        """Patterns of paths that do not count for this rule."""
        self.inside: tuple[str, ...] = ()
        """The files that what made it true is in, if it is not the call itself."""
        self.lost = ""
        """What would be lost, if a rule asked and git said it."""

    def after(self, before: Before | None) -> bool:
        """Whether there was something before; it is named once."""
        if before is not None and before not in self.earlier:
            self.earlier.append(before)
        return before is not None


def applies(condition: Condition, call: RuleCall, hits: Hits) -> bool:
    """Whether a rule's condition is true of a call, or of a part of a file that it runs."""
    tree, marks, _ = condition
    if holds(tree, call, hits):
        return True
    for part, has in call.parts:
        if not has.isdisjoint(marks) and holds(tree, part, hits):
            hits.inside = part.facts.inside
            return True
    return False


def holds(tree: Node, call: RuleCall, hits: Hits) -> bool:
    """Whether the condition is true."""
    return ASK[tree[0]](tree, call, hits)


def may_hold(tree: Node, call: RuleCall) -> bool:
    """Whether the condition may be true, if a part of the call was not read: what does not come from its line is
    certain."""
    word = tree[0]
    if word in ("and", "or"):
        return (all if word == "and" else any)(may_hold(part, call) for part in tree[1])
    if word in NOT_IN_LINE or tree == COMES_BACK:
        return holds(tree, call, Hits())
    return word != "not" or tree[1][0] not in NOT_IN_LINE or not holds(tree[1], call, Hits())


NOT_IN_LINE = frozenset({"earlier", "over", "event", "tool", "agent", "project", "subagent", "mode", "failed"})
COMES_BACK: Node = ("secret", ("seen",))
"""Every text of a call is searched for the secrets of its session."""


def _and(tree: Node, call: RuleCall, hits: Hits) -> bool:
    for part in tree[1]:  # noqa: SIM110 (as in _runs)
        if not ASK[part[0]](part, call, hits):
            return False
    return True


def _or(tree: Node, call: RuleCall, hits: Hits) -> bool:
    return any(holds(part, call, hits) for part in tree[1])


def _not(tree: Node, call: RuleCall, hits: Hits) -> bool:
    return not holds(tree[1], call, Hits(hits.spared))


def _runs(tree: Node, call: RuleCall, hits: Hits) -> bool:
    for program in call.facts.runs:
        if _is_program(tree, program, call) and not (hits.spared and _runs_in_spared(program, call, hits)):
            return True
    return False


def _only(tree: Node, call: RuleCall, _hits: Hits) -> bool:
    return bool(call.facts.runs) and all(
        any_like(tree[1], program.name) or asks_help(program.name, program.args) or program.args == ("--version",)
        for program in call.facts.runs
    )


def _is_spared(path: str, call: RuleCall, hits: Hits) -> bool:
    """Whether a path is one that does not count for this rule."""
    return any(matches(each, path, call.places, covers=False, may_be=False) for each in hits.spared)


def _runs_in_spared(program: Program, call: RuleCall, hits: Hits) -> bool:
    """Whether a program runs in a folder that does not count for this rule, and no word leads it elsewhere."""
    folder = program.cwd
    if folder is None or program.remote:
        return False
    words = [*program.args, *(value for _, value in program.set)]
    while row_of(program.name).has("history") and len(words) > 1 and words[0] == "-C":
        folder, words = resolve(words[1], folder), words[2:]
    if not _is_spared(resolve(folder, None), call, hits):
        return False
    for word in words:
        place = word.rpartition("=")[2]
        leads = place.startswith(("/", "~")) or ".." in place.split("/")
        if "$" in word or UNKNOWN in word or (leads and not _is_spared(resolve(place, folder), call, hits)):
            return False
    return True


def _is_program(tree: Node, program: Program, call: RuleCall) -> bool:
    _, names, operands, options, given, missing, saying, producers, through = tree
    if program.name not in names and not any_like(names, program.name):
        # The programs it runs through run too, but their arguments are unknown.
        return bool(program.via) and not any(tree[2:]) and _runs_through(names, program)
    if asks_help(program.name, program.args):
        return False
    if (operands or options or missing) and not _has_words(program, call.words(program), operands, options, missing):
        return False
    if given and not _has_any(program, given):
        return False
    if not _is_connected(program, producers, through):
        return False
    return not saying or _found(str(saying), *_texts_of_program(program))


def _has_words(
    program: Program,
    words: Words,
    operands: tuple[tuple[str, ...], ...],
    options: tuple[tuple[str, ...], ...],
    missing: tuple[str, ...],
) -> bool:
    """Whether it has these sub-commands and options, and none of the others."""
    if operands and not has_operands(words, operands):
        return False
    for wanted in options:
        for each in wanted:
            if has_option(program.name, words, each):
                break
        else:
            return False
    for unwanted in missing:  # noqa: SIM110 (as in _runs)
        if _has_word(program, words, unwanted):
            return False
    return True


def _is_connected(program: Program, producers: tuple[str, ...], through: tuple[str, ...]) -> bool:
    """Whether it reads what one of these programs prints, and runs through one of those."""
    if producers and not any(any_like(producers, each.name) for each in _sources(program)):
        return False
    return not through or _runs_through(through, program)


def _runs_through(names: tuple[str, ...], program: Program) -> bool:
    return any(any_like(names, wrapper.partition(" ")[0]) for wrapper in program.via)


def _has_any(program: Program, wanted: tuple[str, ...]) -> bool:
    """Whether an argument, or a variable that the line sets for it, is one of these."""
    return any(any_like(wanted, word) for word in program.args) or _sets_any(program, wanted)


def _texts_of_program(program: Program) -> tuple[str, str, str]:
    """Its arguments, its input and its code."""
    row, args, typed = row_of(program.name), program.args, _uncommented(program.stdin)
    letters = row.values.partition(" ")[0]
    if row.told_by and letters:  # `-cTEXT` is `-c TEXT`
        args = tuple(
            f"{arg[:2]} {arg[2:]}" if arg[:1] == "-" and arg[1:2] in letters and arg[2:] else arg for arg in args
        )
    line = " ".join(args)
    if row.told_by and typed:  # its options say what the commands in its input are for
        typed = f"{line} {typed}".lstrip()
    return line, typed, _uncommented(program.code)


def _uncommented(code: str | None) -> str:
    """Code without comment lines."""
    if not code:
        return ""
    found = UNCOMMENTED.get(code)
    if found is None:
        lines = [line for line in code.split("\n") if not line.lstrip().startswith(("#", "//", "--"))]
        if len(UNCOMMENTED) >= MAX_UNCOMMENTED:
            UNCOMMENTED.clear()
        found = UNCOMMENTED[code] = "\n".join(lines)
    return found


UNCOMMENTED: dict[str, str] = {}
"""The last pieces of code, without comment lines: every rule that reads code asks for the same."""
MAX_UNCOMMENTED = 8


def _sources(program: Program) -> list[Program]:
    """The programs whose output it reads, directly or through others."""
    found = list(program.stdin_from)
    for each in found:  # grows while it is walked
        found.extend(source for source in each.stdin_from if source not in found)
    return found


def _has_word(program: Program, words: Words, wanted: str) -> bool:
    if wanted.startswith("-"):
        return has_option(program.name, words, wanted)
    return any(like(wanted, word) for word in program.args) or _sets_any(program, (wanted,))


def _sets_any(program: Program, wanted: tuple[str, ...]) -> bool:
    """Whether the line sets a variable for this program that matches one of the words, `NAME=VALUE`."""
    given = dict(program.set)
    return bool(given) and any(
        name in given and like(value, given[name])
        for name, sign, value in (word.partition("=") for word in wanted)
        if sign and name.isupper()
    )


def _path(tree: Node, call: RuleCall, hits: Hits) -> bool:
    _, kinds, patterns, every, about, covers, by, others = tree
    found = (
        _done_by(call.facts, kinds, by, others=others)
        if by
        else [path for kind in kinds for path in getattr(call.facts, kind)]
    )
    if not found:
        return False
    places = call.places
    hit = matching(patterns, found, places, covers=bool(covers)) if patterns else found
    hit = _unspared(hit, call, hits)
    if not hit or (every and len(hit) < len(found)):
        return False
    if about and not _writes_text(about[0], about[1], call, hit):
        return False
    hits.paths.extend(path for path in hit if path not in hits.paths)
    return True


def _writes_text(word: str, pattern: str, call: RuleCall, hit: list[str]) -> bool:
    """Whether a text of the call matches; for `adding`, whether what it puts into a file has more of such texts than
    what it takes out. It is true too if anything but the text of a file changes, or what is put into it
    cannot be read."""
    given = call.event.data.get("input")
    if word == "saying":
        return _found(pattern, *texts_of(given))
    from anyhook.rules.changed_texts import changed_texts

    known = changed_texts(call.event, call.facts, hit)
    return known is None or bool(_all_found(pattern, known[1]) - _all_found(pattern, known[0]))


def _done_by(facts: Facts, kinds: tuple[str, ...], by: tuple[str, ...], *, others: bool) -> list[str]:
    """The paths of these kinds that the named programs change, or all others."""
    wanted = {name for name in {name for _, _, name in facts.doers} if any_like(by, name) != others}
    return [path for kind, path, name in facts.doers if name in wanted and kind in kinds]


def _unspared(paths: list[str], call: RuleCall, hits: Hits) -> list[str]:
    """Those that count for this rule."""
    if not hits.spared or not paths:
        return paths
    spared = {*matching(hits.spared, paths, call.places, covers=False, may_be=False)}
    return [path for path in paths if path not in spared]


def _any_path(patterns: tuple[PathPattern, ...], path: str, places: Places, covers: bool) -> bool:
    return any(matches(pattern, path, places, covers=covers) for pattern in patterns)


def _connects(tree: Node, call: RuleCall, _hits: Hits) -> bool:
    _, wanted, every = tree
    if not wanted:
        return bool(call.facts.connects)
    found = [
        any_like(wanted, host_of(each)) or any_like(wanted, each) or (SERVICE in wanted and _is_service(each, call))
        for each in call.facts.connects
    ]
    return all(found) and bool(found) if every else any(found)


def _is_service(address: str, call: RuleCall) -> bool:
    """Whether it is the service of the secret in the call that the session has seen."""
    return call.past is not None and call.past.is_service(host_of(address))


def host_of(address: str) -> str:
    """The host name in an address of any form."""
    rest = address.partition("://")[2] or address
    rest = rest.partition("/")[0].rpartition("@")[2]
    return rest if rest.count(":") != 1 else rest.partition(":")[0]


def _secret(tree: Node, call: RuleCall, hits: Hits) -> bool:
    if not _says(tree[1], call.facts.secrets):
        return False
    if "seen" in tree[1] and call.past is not None:
        hits.after(call.past.came_back())
    return True


def _unknown(tree: Node, call: RuleCall, _hits: Hits) -> bool:
    return _says(tree[1], call.facts.unknown)


def _says(wanted: tuple[str, ...], texts: tuple[str, ...]) -> bool:
    """Whether one of the texts contains one of the wanted words; without words, whether there is any text."""
    return bool(texts) and (not wanted or any(like(f"*{word}*", text) for word in wanted for text in texts))


def _event(tree: Node, call: RuleCall, _hits: Hits) -> bool:
    return call.event.name in tree[1]


def _tool(tree: Node, call: RuleCall, _hits: Hits) -> bool:
    names = (call.field("tool"), call.event.ours, *call.event.also)
    return any(bool(name) and any_like(tree[1], name) for name in names)


def _agent(tree: Node, call: RuleCall, _hits: Hits) -> bool:
    return any_like(tree[1], call.agent)


def _project(tree: Node, call: RuleCall, _hits: Hits) -> bool:
    return _any_path(tree[1], call.places.project, call.places, covers=False)


def _subagent(tree: Node, call: RuleCall, _hits: Hits) -> bool:
    names = [name for name in (call.field("agent_type"), call.field("agent_name")) if name]
    if not tree[1]:
        return bool(names) or call.field("invoked_by") == "subagent"
    return any(any_like(tree[1], name) for name in names)


def _mode(tree: Node, call: RuleCall, _hits: Hits) -> bool:
    return any_like(tree[1], call.field("permission_mode"))


def _failed(_tree: Node, call: RuleCall, _hits: Hits) -> bool:
    return has_failed(call.event)


def has_failed(event: Event) -> bool:
    """Whether an event tells of a tool that failed."""
    told = event.data.get("exit_code") or event.data.get("tool_error")
    return event.name == "post_tool_failure" or (event.name == "post_tool" and bool(told))


def _clean(_tree: Node, call: RuleCall, _hits: Hits) -> bool:
    return _shown(call) == CLEAN


def _told(_tree: Node, call: RuleCall, _hits: Hits) -> bool:
    return _shown(call) in (CLEAN, TOLD)


def _shown(call: RuleCall) -> str:
    """What a tool printed. A search that printed nothing has found nothing."""
    said = call.printed(call.event) if call.printed is not None else ""
    if said != NOTHING_SAID:
        return said
    rows = [(row_of(program.name), program.words) for program in call.facts.runs]
    looks = all(
        ((row.has("looks") or row.has("filters")) and not row.has("copies"))
        or (row.has("spares") and not row.has("builtin") and not words)
        for row, words in rows
    )
    return CLEAN if rows and looks and not call.facts.writes else ""


def _script(_tree: Node, call: RuleCall, _hits: Hits) -> bool:
    return bool(call.facts.inside)


def _loses(_tree: Node, call: RuleCall, hits: Hits) -> bool:
    hits.lost = call.lost or ""
    return call.lost != ""


def _matches(tree: Node, call: RuleCall, _hits: Hits) -> bool:
    _, pattern, needed = tree
    texts = texts_of(dict(call.event.data))
    return _found(pattern, *[text for text in texts if _may_match(needed, text)])


def _may_match(needed: tuple[str, ...], text: str) -> bool:
    """Whether a text has one of those that a pattern needs (see `needed_texts`)."""
    if not needed or not text.isascii():
        return True
    low = text.lower()
    return any(each in low for each in needed)


def _earlier(tree: Node, call: RuleCall, hits: Hits) -> bool:
    _, inner, key, text = tree
    if call.past is None:
        return False
    return hits.after(call.past.made_it(inner[1]) if inner[0] == "made" else call.past.told(key, text, hits.spared))


def _asks(_tree: Node, _call: RuleCall, _hits: Hits) -> bool:
    """What a function wants to know. It is asked whatever the answer is."""
    return True


def _over(tree: Node, call: RuleCall, hits: Hits) -> bool:
    _, limit, counted, period = tree
    if call.past is None or not call.past.is_over(limit, counted, period):
        return False
    hits.after(call.past.tells(counted, period))
    return True


def _found(pattern: str, *texts: str) -> bool:
    """Whether a pattern matches in a text; raises PatternTimeout if that takes too long."""
    if not any(texts):
        return False
    compiled = compile_pattern(f"(?i){pattern}")
    return any(compiled.search(text[start : start + MAX_TEXT]) for text in texts for start in _windows(len(text)))


def _all_found(pattern: str, texts: list[str]) -> Counter[str]:
    """Every text in these that a pattern matches, in lower case, and how often."""
    from collections import Counter

    compiled = compile_pattern(f"(?i){pattern}")
    parts = (text[start : start + MAX_TEXT] for text in texts for start in _windows(len(text)))
    return Counter(each.lower() for part in parts for each in compiled.every(part))


def _windows(size: int) -> range:
    """Where the parts of a text begin that a pattern is matched against: they overlap, so that nothing is cut."""
    return range(0, size, MAX_TEXT - OVERLAP) if size > MAX_TEXT else range(min(size, 1))


def texts_of(value: Json) -> Iterator[str]:
    """Every text in a value."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            waiting.extend(each.values())
        elif isinstance(each, list):
            waiting.extend(each)


ASK: dict[str, Callable[[Node, RuleCall, Hits], bool]] = {
    "and": _and,
    "or": _or,
    "not": _not,
    "runs": _runs,
    "only": _only,
    "path": _path,
    "connects": _connects,
    "secret": _secret,
    "unknown": _unknown,
    "event": _event,
    "tool": _tool,
    "agent": _agent,
    "project": _project,
    "subagent": _subagent,
    "mode": _mode,
    "failed": _failed,
    "clean": _clean,
    "told": _told,
    "script": _script,
    "loses": _loses,
    "matches": _matches,
    "earlier": _earlier,
    "asks": _asks,
    "over": _over,
}
