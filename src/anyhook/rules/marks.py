"""Marks: an index that finds the rules a call can match. A condition has marks, and so does a call. A rule that shares
no mark with the call cannot match and is not evaluated; most calls concern few of many rules."""

from __future__ import annotations

from anyhook.rules.wildcards import SIGNS, is_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anyhook.programs.facts import Facts
    from anyhook.rules.language import Node
    from anyhook.rules.paths import PathPattern

LISTENED = ("session_start", "user_prompt_submit", "pre_tool", "post_tool", "post_tool_failure", "step_end", "stop")
SPENT = ("tokens", "dollars")
"""What a rule can count and some agents tell."""
ANY = "*"
"""The mark that every call has."""
ANY_PROGRAM = "runs *"
PATH_FIELDS = ("reads", "writes", "deletes", "makes_executable", "changes")
OTHER_FIELDS = ("connects", "secrets", "unknown")
CERTAIN = 2
"""How many characters of a program's name form its mark if a pattern has wildcards."""
FACT_OF = {"connects": ("connects",), "secret": ("secrets",), "unknown": ("unknown",)}
"""The facts that a word of a condition needs."""


def nodes_of(tree: Node) -> Iterator[Node]:
    """The condition and all conditions in it."""
    yield tree
    word = tree[0]
    inner: Iterable[Node] = (
        tree[1] if word in ("and", "or", "asks") else tree[1:2] if word in ("not", "earlier") else ()
    )
    for part in inner:
        yield from nodes_of(part)


def is_about_the_past(node: Node) -> bool:
    """Whether it asks what the session did before: `earlier`, `over`, `secret seen`."""
    return node[0] in ("earlier", "over") or asks_for_seen(node)


def is_about_files(node: Node) -> bool:
    """Whether it asks if the session made a file."""
    return bool(node[0] == "earlier" and node[1][0] == "made")


def is_about_downloads(node: Node) -> bool:
    """Whether it asks only if the session downloaded a file."""
    return is_about_files(node) and bool(node[1][1] == "downloaded")


def counts_what_is_told(node: Node) -> bool:
    """Whether it counts what only agents tell."""
    return node[0] == "over" and node[2] in SPENT


def listened_by(tree: Node) -> tuple[str, ...]:
    """The events that a rule about the past remembers, besides its own."""
    nodes = [node for node in nodes_of(tree) if is_about_the_past(node)]
    if not nodes:
        return ()
    if all(is_about_downloads(node) for node in nodes):
        return ("pre_tool",)  # which file a call downloads is known before
    return (*LISTENED, "session_end") if any(map(counts_what_is_told, nodes)) else LISTENED


def asks_for_seen(node: Node) -> bool:
    """Whether it asks for a secret that the session has seen."""
    return node[0] == "secret" and "seen" in node[1]


def needs_of(tree: Node) -> tuple[str, ...]:
    """The marks of a condition: it can be true only for a call that has one of them."""
    word = tree[0]
    if word == "and":
        return min([needs_of(part) for part in tree[1]], key=_breadth)
    if word == "or":
        return tuple(dict.fromkeys(mark for part in tree[1] for mark in needs_of(part)))
    if word == "runs":
        return tuple(_program_needs(tree))
    if word == "only":
        return (ANY_PROGRAM,)
    if word == "path":
        _, kinds, patterns, _, _, covers, *_ = tree
        return tuple(dict.fromkeys(mark for kind in kinds for mark in _path_needs(kind, patterns, bool(covers))))
    return FACT_OF.get(word, (ANY,))


def _breadth(marks: tuple[str, ...]) -> tuple[bool, bool, bool, int]:
    """An estimate of how many calls have one of these marks."""
    return ANY in marks, ANY_PROGRAM in marks, any(mark in PATH_FIELDS for mark in marks), len(marks)


def _program_needs(tree: Node) -> Iterator[str]:
    """Its sub-command, or else its name, or the part of the name that has no wildcard."""
    _, names, operands, *_ = tree
    verbs = operands[0] if operands and all(map(is_plain, operands[0])) else ()
    for name in names:
        known = name if is_plain(name) else ANY if verbs else _certain(name)
        yield from (f"runs {known} {verb}" for verb in verbs) if verbs else (f"runs {known}",)


def _certain(pattern: str) -> str:
    """The first or last characters of a name, `py*` or `*sh`, as `marks_of` spells them."""
    head = pattern[: min(pattern.find(sign) for sign in SIGNS if sign in pattern)]
    tail = pattern[max(pattern.rfind(sign) for sign in f"{SIGNS}]") + 1 :]
    return f"{head[:CERTAIN]}*" if len(head) >= CERTAIN else f"*{tail[-CERTAIN:]}" if len(tail) >= CERTAIN else ANY


def _path_needs(kind: str, patterns: tuple[PathPattern, ...], covers: bool) -> Iterator[str]:
    """A name that every path of a pattern contains; only the kind if there is no such name, or if a folder above also
    counts. A path with wildcards may be any path."""
    for start, parts in patterns:
        names = [part for part in parts if is_plain(part)]
        if covers or start == "@" or not names:
            yield kind
        else:
            yield f"{kind} /{max(names, key=len)}"
            yield f"{kind} {ANY}"
    if not patterns:
        yield kind


def marks_of(facts: Facts) -> set[str]:
    """The marks of a call."""
    found = {ANY, *[field for field in OTHER_FIELDS if getattr(facts, field)]}
    for program in facts.runs:
        found.add(ANY_PROGRAM)
        for name in (program.name, *[wrapper.partition(" ")[0] for wrapper in program.via]):
            found.update((f"runs {name}", f"runs {name[:CERTAIN]}*", f"runs *{name[-CERTAIN:]}"))
        for word in program.args:
            found.update((f"runs {program.name} {word}", f"runs * {word}"))
    for field in PATH_FIELDS:
        for path in getattr(facts, field):
            found.add(field)
            if any(sign in path for sign in SIGNS):
                found.add(f"{field} {ANY}")
            found.update([f"{field} /{part}" for part in path.split("/")])
    return found
