"""Expansion: a word of the grammar's tree → the words that a shell would expand it to. Quoted characters are replaced
by characters that no text uses, so that the remaining braces, spaces and globs are the active ones."""

from __future__ import annotations

import itertools

from anyhook.model.pattern import later, re
from anyhook.programs.grammar import text_of
from anyhook.programs.program import UNKNOWN, Program, UnreadError, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tree_sitter import Node


MAX_MADE = 2_000_000
"""How many characters the words of one line may grow to: `b=$a$a; c=$b$b` doubles each time."""
MAX_WORDS = 64
"""How many words one word may become."""
SPECIAL = "{},*?[]~ \t\n.:="
QUOTED = {ord(sign): chr(0xE000 + ord(sign)) for sign in SPECIAL}
PLAIN = {0xE000 + ord(sign): sign for sign in SPECIAL}
FIRST_UNKNOWN, LAST_UNKNOWN = 0xF0000, 0xFFFFD
STRANGE = later("[\ue000-\ue0ff\U000f0000-\U000ffffd]")
"""Characters with a special meaning in here, so no line may contain them."""
UNKNOWNS = later("[\U000f0000-\U000ffffd]")
BRACES = later(r"[{},]")
RANGE = later(r"(-?\d{1,6})\.\.(-?\d{1,6})|([A-Za-z])\.\.([A-Za-z])")
LITERAL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=@%+-"
"""Signs of words that a shell does not change."""
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}
ANSI = later(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|c.|.)", re.DOTALL)


class Unknowns:
    """The unknown parts of one line, each under its own character."""

    def __init__(self) -> None:
        self.parts: list[tuple[str, tuple[Program, ...]]] = []

    def sign(self, source: str, origins: tuple[Program, ...] = ()) -> str:
        self.parts.append((source, origins))
        return chr(min(FIRST_UNKNOWN + len(self.parts) - 1, LAST_UNKNOWN))

    def word(self, marked: str, keep: tuple[Program, ...] = ()) -> Word:
        """The finished word."""
        globs = "*" in marked or "?" in marked or "[" in marked
        if marked.isascii():  # then it contains none of our characters
            return Word(marked, marked, globs, keep)
        plain = marked.translate(PLAIN)
        origins = keep
        for found in UNKNOWNS.finditer(plain):
            origins += self._part(found[0])[1]
        return Word(
            UNKNOWNS.sub(UNKNOWN, plain), UNKNOWNS.sub(lambda found: self._part(found[0])[0], plain), globs, origins
        )

    def _part(self, sign: str) -> tuple[str, tuple[Program, ...]]:
        place = ord(sign) - FIRST_UNKNOWN
        return self.parts[place] if place < len(self.parts) else ("$…", ())


class Values:
    """What the expansion of a line needs to know about its context."""

    def __init__(self, unknowns: Unknowns, home: str) -> None:
        self.unknowns, self.home = unknowns, home
        self.lookup: Callable[[str], Sequence[str] | None] = lambda _name: None
        """The values that a variable may have; None if that is not known."""
        self.output: Callable[[Node], tuple[str | None, tuple[Program, ...]]] = lambda _node: (None, ())
        """The known output of a substitution, and the programs in it."""
        self.made = 0
        """How many characters the expansions of the line have made."""
        self.assign: Callable[[str, Sequence[str]], None] = lambda _name, _values: None
        self.prompt: Callable[[str], None] = lambda _text: None
        """Runs the substitutions in a text that is expanded once more."""


CAN_BE_EMPTY = ("string", "raw_string", "ansi_c_string", "concatenation", "translated_string")
"""Nodes that are a word even if it has no characters."""


def expand(node: Node, values: Values) -> list[str]:
    """The marked words that a node expands to: none for an empty expansion, several for braces and lists."""
    text = text_of(node)
    if text and not text.strip(LITERAL):
        return [text]
    return joint([node], values)


def joint(nodes: Sequence[Node], values: Values) -> list[str]:
    """The same for nodes that touch each other: to a shell they are one word."""
    found: list[str] = []
    signs = "".join(values.lookup("IFS") or ())
    for marked in _product([_pieces(node, values, quoted=False) for node in nodes], values):
        for each in braces(marked):
            found.extend(part for word in _tilde(each, values) for part in _split(word, signs))
    if not found and any(node.type in CAN_BE_EMPTY for node in nodes):
        return [""]
    return found[:MAX_WORDS]


def one(node: Node, values: Values) -> list[str]:
    """The same without splitting, for the value of an assignment or the target of a redirection: its possible
    values."""
    return [word for each in _pieces(node, values, quoted=False) for word in _tilde(each, values)] or [""]


def braces(word: str) -> list[str]:
    """The words that `a{b,c}` and `a{1..3}` expand to."""
    made: list[str] = []
    left = [word]
    while left and len(made) + len(left) < MAX_WORDS:
        each = left.pop(0)
        start, end, parts = _brace(each)
        if end:
            left[:0] = [each[:start] + part + each[end + 1 :] for part in parts]
        else:
            made.append(each)
    return made + left


def _brace(word: str) -> tuple[int, int, list[str]]:
    """The first pair of braces that expands to several words, and these words; an end of 0 without one."""
    if "{" not in word:
        return 0, 0, []
    first: tuple[int, int, list[str]] = len(word), 0, []
    opened: list[list[int]] = []
    for found in BRACES.finditer(word):
        place, sign = found.start(), found[0]
        if sign == "{":
            opened.append([place])
        elif sign == "," and opened:
            opened[-1].append(place)
        elif sign == "}" and opened:
            marks = opened.pop()
            if marks[0] > first[0]:
                continue
            if len(marks) > 1:
                first = marks[0], place, [word[a + 1 : b] for a, b in zip(marks, [*marks[1:], place], strict=True)]
            elif steps := RANGE.fullmatch(word, marks[0] + 1, place):
                first = marks[0], place, _range(steps)
    return first if first[1] else (0, 0, [])


def _range(steps: re.Match[str]) -> list[str]:
    low, high = (int(steps[1]), int(steps[2])) if steps[1] else (ord(steps[3]), ord(steps[4]))
    numbers = range(low, high + 1) if low <= high else range(low, high - 1, -1)
    return [str(number) if steps[1] else chr(number) for number in numbers[:MAX_WORDS]]


def _tilde(marked: str, values: Values) -> list[str]:
    """`~` at a word's start, and after the `=` of something like an assignment, with each folder that it may mean."""
    if "~" not in marked:
        return [marked]
    homes = values.lookup("HOME") or (values.home,)
    if not marked.startswith("~"):
        parts = re.split(r"(?<=[=:])~(?=/|:|$)", marked)
        return [home.join(parts) for home in homes]
    name, slash, rest = marked[1:].partition("/")
    if name == "+":
        homes = values.lookup("PWD") or ("~+",)
    elif name:
        homes = ("/root" if name == "root" else f"/home/{name}" if name.isidentifier() else f"~{name}",)
    return [home + slash + rest for home in homes]


def _split(marked: str, signs: str) -> list[str]:
    """The words of a text, split at spaces and at the characters in `IFS`; none if it is empty."""
    blank = rf"[ \t\n{re.escape(signs)}]"
    return [piece for piece in re.split(f"{blank}+", marked) if piece]


def _product(parts: list[list[str]], values: Values) -> list[str]:
    if all(len(part) == 1 for part in parts):  # joined at once, so that the cost is linear
        whole = "".join([part[0] for part in parts])
        _count(len(whole) if len(whole) > 1_000 else 0, values)
        return [whole]
    made = [""]
    for part in parts:
        wanted = itertools.islice(itertools.product(made, part), MAX_WORDS)
        made = [before + after for before, after in wanted]
        _count(sum(map(len, made)), values)
    return made


def _count(size: int, values: Values) -> None:
    """Counts what expansions make, so that a short line cannot take all memory."""
    values.made += size
    if values.made > MAX_MADE:
        raise UnreadError(f"its words grow to more than {MAX_MADE} characters")


def _pieces(node: Node, values: Values, quoted: bool) -> list[str]:
    """The possible marked texts of a node, before braces and spaces are handled."""
    kind = node.type
    if kind in ("concatenation", "command_name", "string", "translated_string", "heredoc_body", "array"):
        return _mixed(node, values, quoted or kind in ("string", "heredoc_body", "translated_string"))
    if kind == "raw_string":
        return [text_of(node)[1:-1].translate(QUOTED)]
    if kind == "ansi_c_string":
        return [_ansi(text_of(node)[2:-1]).partition("\0")[0].translate(QUOTED)]  # a shell's word ends there
    if kind == "simple_expansion":
        return _variable(text_of(node)[1:], text_of(node), values, quoted)
    if kind == "expansion":
        return _expansion(node, values, quoted)
    if kind in ("command_substitution", "process_substitution"):
        return _substitution(node, values, quoted)
    if kind == "arithmetic_expansion":
        return [values.unknowns.sign(text_of(node))]
    if kind == "``":
        return [""]
    if kind == "brace_expression":
        return [text_of(node)]
    if quoted:
        return [_unescaped(text_of(node), '"\\$`\n').translate(QUOTED)]
    if node.named_child_count and kind not in ("word", "number", "extglob_pattern", "regex"):
        return _mixed(node, values, quoted)
    return [_unescaped(text_of(node), None)]


def _mixed(node: Node, values: Values, quoted: bool) -> list[str]:
    """A node with parts, and the text between them that the grammar leaves out."""
    whole, start = node.text or b"", node.start_byte
    alone = (whole, whole.strip(b'"'))
    parts: list[list[str]] = []
    place = 0

    def plain(to: int) -> None:
        text = whole[place:to].decode("utf-8", "replace")
        if text:
            text = _unescaped(text, '"\\$`\n') if quoted else _unescaped(text, None)
            parts.append([text.translate(QUOTED) if quoted else text])

    for child in node.children:
        begin, end = child.start_byte - start, child.end_byte - start
        if begin < place:
            continue
        if child.type == '"':
            plain(end - 1)  # blanks before it belong to the text
        elif is_nothing(child, values) and child.text not in alone:
            plain(begin)  # `r$1m` or `r${@}m`, which disguises a name
        elif child.is_named or child.type == "``":
            lead = len(text_of(child)) - len(text_of(child).lstrip()) if child.type == "command_substitution" else 0
            plain(begin + lead)
            parts.append(_pieces(child, values, quoted))
        else:
            continue
        place = end
    plain(len(whole))
    return _product(parts, values)


def is_nothing(node: Node, values: Values) -> bool:
    """Whether it is a parameter of a line that has none, quoted or not."""
    if node.type == "string" and node.named_child_count == 1:
        inner = node.named_children[0]
        return text_of(node) == f'"{text_of(inner)}"' and is_nothing(inner, values)
    if node.type not in ("simple_expansion", "expansion"):
        return False
    name = text_of(node).removeprefix("$").removeprefix("{").removesuffix("}")
    return (name in ("@", "*") or (name.isdigit() and name != "0")) and values.lookup(name) is None


def _unescaped(text: str, only: str | None) -> str:
    """Without backslashes; what they quote is marked. In quotes they quote only some characters."""
    if "\\" not in text:
        return text
    signs = r"\\(.)" if only is None else r"\\([" + re.escape(only) + "])"
    return re.sub(signs, lambda found: "" if found[1] == "\n" else found[1].translate(QUOTED), text, flags=re.DOTALL)


def ansi(text: str) -> str:
    """The text of `echo -e` and `printf`, without null characters: a shell drops them."""
    return _ansi(text).replace("\0", "")


def _ansi(text: str) -> str:
    def value(found: re.Match[str]) -> str:
        code = found[1]
        if code[0] in "xuU" and len(code) > 1:
            return chr(min(int(code[1:], 16), 0x10FFFF))
        if code[0] in "01234567":
            return chr(int(code, 8) & 0xFF)
        if code[0] == "c" and len(code) > 1:
            return chr(ord(code[1]) & 0x1F)
        return ESCAPES.get(code, code if code in "\\'\"?" else f"\\{code}")

    return ANSI.sub(value, text)


def _variable(name: str, source: str, values: Values, quoted: bool) -> list[str]:
    found = values.lookup(name)
    if found is None:
        return [values.unknowns.sign(source)]
    if quoted and name == "*":
        found = [" ".join(found)]
    return [value.translate(QUOTED) for value in found] if quoted else list(found)


def _substitution(node: Node, values: Values, quoted: bool) -> list[str]:
    text, origins = values.output(node)
    if text is None or node.type == "process_substitution":
        return [values.unknowns.sign(text_of(node).strip(), origins)]
    text = text.rstrip("\n")
    return [text.translate(QUOTED) if quoted else text]


# -- ${…}


EXPANSION = r"\$\{(?P<prefix>[#!]?)(?P<name>\w+|[@*#?$!-])(\[(?P<index>[^\]]*)\])?(?P<rest>(?P<default>:?[-=+?])?.*)\}"


def _expansion(node: Node, values: Values, quoted: bool) -> list[str]:
    source = text_of(node)
    found = re.fullmatch(EXPANSION, source, re.DOTALL)
    if found is None or found["prefix"]:
        return _indirect(found, source, values, quoted)
    known = values.lookup(found["name"])
    rest = found["rest"]
    if found["default"]:
        return _default(node, found, found["default"], known, values, quoted)
    if known is None:
        return [values.unknowns.sign(source)]
    if rest == "@P":
        for value in known:
            values.prompt(value)
    known, rest = _chosen(found, known, rest)
    if quoted and not rest and "*" in (found["name"], found["index"]):
        known = [" ".join(known)]
    try:
        made = [_edited(value, rest) for value in known]
    except (re.error, ValueError):
        return [values.unknowns.sign(source)]
    if None in made:
        return [values.unknowns.sign(source)]
    return [str(value).translate(QUOTED) if quoted else str(value) for value in made]


def _chosen(found: re.Match[str], known: Sequence[str], rest: str) -> tuple[Sequence[str], str]:
    """The values that are meant: some parameters (`${@:2}`), or one element of an array. And what is done to them."""
    if found["name"] in ("@", "*") and (part := re.fullmatch(r":\s*(\d+)(?::(\d+))?", rest)):
        begin = max(int(part[1]), 1) - 1
        return known[begin : None if part[2] is None else begin + int(part[2])], ""
    if found["index"] is not None and found["index"].isdigit() and int(found["index"]) < len(known):
        return [known[int(found["index"])]], rest
    return known, rest


def _indirect(found: re.Match[str] | None, source: str, values: Values, quoted: bool) -> list[str]:
    if found is None or found["prefix"] != "!" or found["rest"]:
        return [values.unknowns.sign(source)]
    names = values.lookup(found["name"])
    if not names:
        return [values.unknowns.sign(source)]
    return [each for name in names for each in _variable(name, source, values, quoted)]


def _default(
    node: Node, found: re.Match[str], sign: str, known: Sequence[str] | None, values: Values, quoted: bool
) -> list[str]:
    """`${x:-y}`: either value if it is unknown whether x is set."""
    children = [child for child in node.named_children if child.type not in ("variable_name", "subscript")]
    other = _product([_pieces(child, values, quoted) for child in children], values) if children else [""]
    if sign.endswith("+"):
        return other
    here = [] if known is None else [value.translate(QUOTED) if quoted else value for value in known if value]
    if sign.endswith("?"):
        return here or [values.unknowns.sign(text_of(node))]
    if here:
        return here
    if sign.endswith("="):
        values.assign(found["name"], other)
    return other if known is not None else [*other, values.unknowns.sign(text_of(node))]


def _edited(value: str, rest: str) -> str | None:
    """`%`, `#`, `/`, `:`, `^` and `,`; None for anything else."""
    if not rest:
        return value
    if UNKNOWNS.search(value):
        return None
    cut = re.fullmatch(r"(%%?|##?)(.*)", rest, re.DOTALL)
    if cut:
        return _trimmed(value, cut[1], cut[2].replace("\\", "").strip("\"'"))
    part = re.fullmatch(r":\s*(-?\d+)(?::(-?\d+))?", rest)
    if part:
        begin = int(part[1]) if int(part[1]) >= 0 else max(len(value) + int(part[1]), 0)
        size = part[2]
        end = len(value) if size is None else begin + int(size) if int(size) >= 0 else len(value) + int(size)
        return value[begin:end]
    swap = re.fullmatch(r"(//?)([^/]+)(?:/(.*))?", rest, re.DOTALL)
    if swap and len(value) * len(rest) > MAX_MADE:
        raise UnreadError(f"its words grow to more than {MAX_MADE} characters")
    if swap and "$" not in rest:
        from fnmatch import translate

        pattern = translate(swap[2].replace("\\", "").strip("\"'")).removesuffix(r"\Z").removesuffix(r"\z")
        return re.sub(pattern, lambda _: swap[3] or "", value, count=int(swap[1] == "/"))
    cases = {"^^": value.upper(), ",,": value.lower(), "^": value[:1].upper() + value[1:], "@Q": value,
             "@P": value, "@E": _ansi(value), "@U": value.upper(), "@L": value.lower()}  # fmt: skip
    return cases.get(rest)


def _trimmed(value: str, sign: str, pattern: str) -> str:
    if "$" in pattern:
        raise ValueError(pattern)
    from fnmatch import translate

    fits = re.compile(translate(pattern)).match
    sizes = range(len(value) + 1)
    if sign[0] == "%":
        starts = reversed(sizes) if sign == "%" else sizes
        return next((value[:place] for place in starts if fits(value[place:])), value)
    ends = sizes if sign == "#" else reversed(sizes)
    return next((value[place:] for place in ends if fits(value[:place])), value)
