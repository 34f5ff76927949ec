"""Rewrites lines that tree-sitter's grammar parses wrongly into a spelling that it parses like every shell: `a$X/b$Y/c`
is two words to it, and so is ``a`b`c``."""

from __future__ import annotations

from itertools import islice, pairwise

from anyhook.model.pattern import later, re
from anyhook.programs.continuations import CONTINUED, joined
from anyhook.programs.grammar import SUBSTITUTIONS, parse, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tree_sitter import Node

    Edit = tuple[int, int, bytes]
    """Start, end, and what takes their place."""

OTHERS = (
    (later(r"<>"), ">"),  # opened for both: what counts is that it is written
    (later(r"(<<-?\s*(['\"]?)\w+\2)[ \t]+(>{1,2}[ \t]*[^\s|;&]+)"), r"\3 \1"),  # `cat <<E > f | sh`
    (later(r"\r\n"), "\n"),
    (later(r"(\bfor\s+\w+(?:\s+in\b[^;\n]*)?[;\n]\s*)\{(\s.*[;\n]\s*)\}", re.DOTALL), r"\1do\2done"),
    (later(r"(\$|(?<![^\s;&|(`]))\(\((?=.*\)[^)]+\))", re.DOTALL), r"\1( ("),  # `$((a); b)`: a subshell is first
    (later(r"\s*\Z"), "\n"),
    (later(r"\Z"), lambda found: _ends_of_documents(found.string)),
)
"""Texts that the grammar does not accept, and the same in a form that it does."""

DOUBTFUL = later(r"\$(?:(?<=[^\s\"'(=;&|\\]\$)|(?<=[^\s(=;&|\\][\"']\$))[A-Za-z_0-9]|`(?<=[^\s(=]`)|`[^\s);|&]")
"""A variable or a backtick in the middle of a word. The sign stands first: long texts are searched faster."""

LITERAL = ("raw_string", "ansi_c_string", "comment", "heredoc_body")
"""Nodes in which a continuation stays."""

PREFIX = later(
    r"(?:^|[;&|(){`\n]|\b(?:then|do|else|elif|if|while|until)(?=\s))\s*"
    r"(?:(?P<word>(?=\{[^\s{};]*,))|(?P<all>(?:(?:time(?:\s+-p)?(?:\s+--)?|!|coproc(?:\s+\w+(?=\s+[{(]))?)\s+){1,9})"
    r"(?=[{(!]|\[\[|(?:if|for|while|until|case|select|function|time|coproc)\b))"
)
"""Words before a statement that change nothing in what it runs: the grammar takes what follows for their arguments. And
a command like `{rm,-r,x}`, which is a block to it."""
BEGINNINGS = ("!", "{", "time", "coproc")
"""One of these is in each of them."""

NAME = later(rb"[0-9]|[A-Za-z_]\w*")

HERE_DOCUMENT = later(r"<<-?[ \t]*([\"']?)(\w+)\1")

MAX_HERE_DOCUMENTS = 50

MAX_ROUNDS = 4


def understood(text: str) -> Node:
    """The tree of a line. What this grammar rejects although every shell accepts it is tried in another spelling."""
    text = _named_apart(joined(text))
    root = parse(text)
    if _may_be_misread(text):
        text, root = _respelled(text, root, lambda node, data: [*_prefixes(node, text), *_empty(node, data)])
    if CONTINUED in text:
        text, root = _respelled(text, root, _left)
    if text.count("|") > 1 and "\n" in text.strip():
        text, root = _respelled(text, root, _run_on, MAX_ROUNDS)
    if _is_doubtful(text):
        text, root = _respelled(text, root, _edits, MAX_ROUNDS)
    if root.has_error:
        every, tried = text, {text}
        for pattern, other in OTHERS:
            every = pattern.sub(other, every)
            for each in {pattern.sub(other, text): None, every: None}.keys() - tried:
                tried.add(each)
                changed = parse(each)
                if not changed.has_error:
                    return changed
    return root


def _respelled(
    text: str, root: Node, edits_of: Callable[[Node, bytes], Iterable[Edit]], rounds: int = 1
) -> tuple[str, Node]:
    """The line and its tree after these edits, made again as long as there are any."""
    for _ in range(rounds):
        data = text.encode("utf-8", "replace")
        edits = sorted(edits_of(root, data))
        if not edits:
            break
        text = _edited(data, edits)
        root = parse(text)
    return text, root


def _ends_of_documents(text: str) -> str:
    """The ends that here-documents lack: without one, a shell takes everything up to the end of the line."""
    ends = [found[2] for found in islice(HERE_DOCUMENT.finditer(text), MAX_HERE_DOCUMENTS)]
    lines = {line.strip("\t") for line in text.splitlines()}
    return "".join(f"\n{end}" for end in dict.fromkeys(ends) if end not in lines) + "\n"


def _named_apart(text: str) -> str:
    """Here-documents with other ends where a line in them only begins like the end: the grammar takes it for that."""
    starts = [*islice(HERE_DOCUMENT.finditer(text), MAX_HERE_DOCUMENTS)] if "<<" in text else []
    for found in reversed(starts):  # so that the places of those before it stay
        name = found[2]
        like = re.compile(rf"^\t*{name}(.*)$", re.MULTILINE).finditer(text, found.end())
        begins = [line for line, _ in zip(like, range(MAX_HERE_DOCUMENTS), strict=False)]
        end = next((line for line in begins if not line[1]), None)
        if end is not None and begins[0] is not end:
            text = f"{text[: end.start(1)]}_{text[end.start(1) :]}"
            text = f"{text[: found.end(2)]}_{text[found.end(2) :]}"
    return text


def _may_be_misread(text: str) -> bool:
    return "$()" in text or (any(each in text for each in BEGINNINGS) and PREFIX.search(text) is not None)


def _is_doubtful(text: str) -> bool:
    return ("$" in text or "`" in text) and DOUBTFUL.search(text) is not None


def _edited(text: bytes, edits: list[Edit]) -> str:
    for start, end, other in reversed(edits):
        text = text[:start] + other + text[end:]
    return text.decode("utf-8", "replace")


def _empty(root: Node, text: bytes) -> Iterator[Edit]:
    """Nothing for each `$()`, which the grammar does not understand inside of a word."""
    for found in re.finditer(rb"(?<!\\)\$\(\)", text):
        if _around(root, found.start(), LITERAL) is None:
            yield found.start(), found.end(), b""


def _around(root: Node, place: int, kinds: Sequence[str]) -> Node | None:
    """The innermost node of some kinds at a place of the text."""
    node = root.descendant_for_byte_range(place, place + 1)
    while node is not None and node.type not in kinds:
        node = node.parent
    return node


def _prefixes(root: Node, text: str) -> Iterator[Edit]:
    """Blanks for `time`, `!` and `coproc` before a statement, and `''` before braces, outside of quotes."""
    for found in PREFIX.finditer(text):
        place = len(text[: found.start(found.lastgroup or 0)].encode("utf-8", "replace"))
        node = _around(root, place, (*LITERAL, "string", *SUBSTITUTIONS))
        if node is None or node.type in SUBSTITUTIONS:
            size = len(found["all"] or "")
            yield place, place + size, b" " * size or b"''"


def _left(root: Node, text: bytes) -> Iterator[Edit]:
    """The continuations that are literal to the scan and not to the grammar: they go too."""
    place = text.find(CONTINUED.encode())
    while place >= 0:
        node, end = root.descendant_for_byte_range(place, place + 2), place + 2
        while node is not None and node.type not in LITERAL:
            node = node.parent
        if node is not None:
            end = node.end_byte
        elif text[max(place - 1, 0) : place] != b"\\":
            yield place, end, b""
        place = text.find(CONTINUED.encode(), end)


def _run_on(root: Node, text: bytes) -> Iterator[Edit]:
    """A `;` for each end of a line between the words of one command. After a pipe of three programs, the grammar takes
    the next line for arguments, if that has a redirection."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        children = [child for child in node.children if child.type != "comment"]
        if node.type in ("command", "file_redirect", "redirected_statement"):
            for one, other in pairwise(children):
                if one.type != "heredoc_redirect" and b"\n" in text[one.end_byte : other.start_byte]:
                    yield one.end_byte, one.end_byte, b";"
        waiting.extend(children)


def _edits(root: Node, text: bytes) -> Iterator[Edit]:
    """`${X}` for each `$X` that was not seen as a variable, `$(…)` for each pair of backticks that ends a word."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type == "command_substitution" and text_of(node).startswith("`") and _touches(node, text):
            inner = re.sub(r"\\([`$\\])", r"\1", text_of(node)[1:-1])
            yield node.start_byte, node.end_byte, f"$({inner})".encode()
        elif node.children:
            waiting.extend(node.children)
        elif (node.type == "word" and text_of(node).endswith("$")) or _is_lone(node):
            end = node.end_byte
            name = NAME.match(text, end)
            if name and text[end - 2 : end - 1] != b"\\":
                yield end - 1, name.end(), b"${" + name[0] + b"}"


def _is_lone(node: Node) -> bool:
    """A `$` that belongs to no expansion."""
    parent = node.parent
    return node.type == "$" and parent is not None and "expansion" not in parent.type and parent.type != "string"


def _touches(node: Node, text: bytes) -> bool:
    """Whether there is text right before or after it that the grammar sees as another word."""
    word = node.parent if node.parent is not None and node.parent.type == "concatenation" else node
    ends = (word.start_byte, word.end_byte)
    before, after = text[max(ends[0] - 1, 0) : ends[0]], text[ends[1] : ends[1] + 1]
    inside = node.parent is not None and node.parent.type in ("string", "heredoc_body")
    return not inside and bool(before.strip(b"(;&|={\"'<>") or after.strip(b");&|}\"'<>"))
