"""A new hook: which files it needs and their contents (a plan, which writes nothing), and writing them, all or none."""

from __future__ import annotations

import errno
import json
import os
import shlex
import stat
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from anyhook.documents import edit
from anyhook.documents.edit_yaml import scalar
from anyhook.documents.files import Files
from anyhook.documents.parse import parse_json, repeated_key, syntax_of
from anyhook.documents.read import Unreadable, read_bytes
from anyhook.extra.testing.hook_script import EFFECTS, MARK, Lang, Script, text
from anyhook.model.hook import ARMED, Hook, Layer, Source
from anyhook.model.json_types import Json
from anyhook.model.record import Record
from anyhook.model.words import OwnScope
from anyhook.platform.locks import locked
from anyhook.platform.places import replace_file
from anyhook.tables.cell_names import ScaffoldShape
from anyhook.tables.cells import everything
from anyhook.tables.patterns import check_pattern
from anyhook.tables.registry import UnknownEvent, canonical_event, special
from anyhook.tables.rows import Dialect, EventRow, Roots, Scaffold
from anyhook.tables.schema import declared, schema_of
from anyhook.tables.shapes import guess

if TYPE_CHECKING:
    from anyhook.documents.parse import Syntax

ENDINGS: dict[Lang, str] = {"bash": ".sh", "python": ".py"}
MAX_NAME_LENGTH = 64


class CannotScaffold(Exception):  # noqa: N818 - it says what cannot be done
    """A short message for the person who asked: what, why, what to do."""


class Order(Record):
    """What was asked for."""

    name: str
    dialect: Dialect
    row: EventRow
    scope: OwnScope
    lang: Lang
    tool: str
    """"" for every tool."""
    roots: Roots

    @property
    def matched(self) -> bool:
        """Whether the dialect has a matcher for the hook's tool."""
        return bool(self.tool) and self.dialect.match is not everything and self.row.target == "tool"

    @property
    def about_tools(self) -> bool:
        """Whether the event is about a tool."""
        return _is_about_tools(self.row)


class Piece(Record):
    """One file to write."""

    path: str
    text: str
    executable: bool = False
    old: bytes | None = None
    """The current contents; None if the file must not exist."""


class Plan(Record):
    """Everything that a new hook needs."""

    source: Source
    script: str
    """The path of its script."""
    command: str
    """How its declaration calls the script, or ""."""
    pieces: tuple[Piece, ...]
    """The declaration comes last: without it, nothing is hooked."""
    log: str
    """The hook's log file; "" for a gate."""
    notes: tuple[str, ...]


def _is_about_tools(row: EventRow) -> bool:
    return row.target == "tool" or any(field.cell == "tool" for field in row.payload)


def find_row(dialect: Dialect, event: str) -> tuple[EventRow, str]:
    """The dialect's row for an event of any spelling, and the canonical event that was meant."""
    known = f"Events of {dialect.name}: {', '.join(row.native for row in dialect.events)}."
    row = dialect.row(event)
    if row is not None:
        return row, row.canonical[0]
    try:
        canonical = canonical_event(event, failed=False)
    except UnknownEvent:
        hint = guess(event, [row.native for row in dialect.events])
        raise CannotScaffold(f"--event {event}: there is no such event.{hint} {known}") from None
    row = dialect.row_for(canonical)
    if row is None:
        raise CannotScaffold(f"--event {event}: {dialect.name} has no such event. {known}")
    return row, canonical


def check(order: Order) -> Scaffold:
    """Check the order; returns the dialect's scaffold."""
    name, off = order.name, special(order.dialect.name, "OFF_SUFFIX")
    fit = all(char.isascii() and (char.isalnum() or char in "-_.") for char in name)
    if not name or not fit or name[0] in "-." or name[-1] == "." or len(name) > MAX_NAME_LENGTH:
        raise CannotScaffold(
            f"{name!r} is not a valid name for a hook. "
            f"Use up to {MAX_NAME_LENGTH} letters, digits, dashes, underscores, and dots inside."
        )
    if off and name.endswith(off):
        raise CannotScaffold(f"a hook whose name ends in {off} is turned off. Choose a name other than {name!r}.")
    if order.tool:
        _check_tool(order)
    if order.scope == "user" and not order.roots.env.get("HOME"):
        raise CannotScaffold("--scope user: HOME is not set, so there is no place for a user's hooks. Set it.")
    if order.dialect.scaffold is None:
        raise CannotScaffold(f"hooks of {order.dialect.name} have to be written by hand; see its page in the docs.")
    return order.dialect.scaffold


def _check_tool(order: Order) -> None:
    if not order.tool.strip() or not order.tool.isprintable():
        raise CannotScaffold(f"--tool {order.tool!r}: this is not the name of a tool.")
    if not order.about_tools:
        tools = [row.native for row in order.dialect.events if _is_about_tools(row)]
        raise CannotScaffold(f"--tool: {order.row.native} is not about a tool. Events that are: {', '.join(tools)}.")
    wrong = check_pattern(order.tool) if order.matched else None
    if wrong:
        raise CannotScaffold(f"--tool {order.tool}: {wrong}.")


def plan(order: Order, written: str = "") -> Plan:
    """The files of a new hook; raises CannotScaffold if one of them would overwrite something. `written` is the
    script's text; "" for one made from the event's row."""
    scaffold = check(order)
    source = next((each for each in order.dialect.find(order.roots) if each.scope == order.scope), None)
    if source is None:
        raise CannotScaffold(f"{order.dialect.name} has no hooks of the scope {order.scope}.")
    if scaffold.shape == "rules":
        if written:
            raise CannotScaffold(f"hooks of {order.dialect.name} are rules without a script. Choose another dialect.")
        return _function(order, source) if order.lang == "python" else _rule(order, scaffold, source)
    file = {
        "folder": f"run{ENDINGS[order.lang]}", "executable": order.name, "events": order.row.native,
    }.get(scaffold.shape, f"{order.name}{ENDINGS[order.lang]}")  # fmt: skip
    words = {
        "project": order.roots.project, "home": order.roots.home, "root": source.root, "path": source.path,
        "name": order.name, "file": file,
    }  # fmt: skip
    folder = scaffold.scripts[order.scope].format(**words)
    script = f"{folder}/{file}"
    command = scaffold.command.get(order.scope, "").format(**words, script=shlex.quote(script))
    notes = _look_around(order, scaffold.shape, source, folder, file)
    compared = tuple(order.tool.split("|")) if order.tool and not order.matched else ()
    # A log is in no folder that is searched for hooks, or covered by approvals.
    above = os.path.dirname(source.path if scaffold.shape == "folder" else folder)
    log = f"{os.path.relpath(above, folder)}/{order.name}.log"
    made = Script(order.name, order.dialect, order.row, compared, log)
    pieces = [Piece(script, written or text(made, order.lang), executable=True)]
    if scaffold.shape == "folder":
        pieces.append(Piece(f"{source.path}/{order.name}/{scaffold.declared_in[0]}", _front_matter(order)))
    elif scaffold.shape not in ("executable", "events"):
        pieces.append(_declaration(order, scaffold, source, command))
    kept = "" if made.gate or written else os.path.normpath(f"{folder}/{log}")
    return Plan(source, script, command, tuple(pieces), kept, tuple(notes))


def _rule(order: Order, scaffold: Scaffold, source: Source) -> Plan:
    """A rule is only an entry of the file."""
    _refuse_taken(order)
    event, entry = order.row.native, {"name": order.name}  # type: str, dict[str, Json]
    named = "" if event == "pre_tool" else f"event {event} and "
    if order.row.block in EFFECTS:
        entry.update(when=f"{named}matches /{MARK}/", then="deny", because=f"The call holds the word {MARK}.")
    else:
        log = f"{os.path.dirname(source.path)}/{order.name}.log".removeprefix(f"{order.roots.project}/")
        entry.update(when=f"event {event}", run=f"cat >> {shlex.quote(log)}")
    if order.tool:
        entry["tools"] = [*order.tool.split("|")]
    kept = "" if order.row.block in EFFECTS else os.path.join(order.roots.project, log)
    schema = source.path.removesuffix(".toml") + ".schema.json"
    first = f"#:schema ./{os.path.basename(schema)}\n"
    pieces = [_appended(source.path, ("rule",), entry, scaffold.top, first)]
    if pieces[0].old is None and not os.path.lexists(schema):
        pieces.insert(0, Piece(schema, json.dumps(schema_of(order.dialect), indent=2) + "\n"))
    return Plan(source, "", "", tuple(pieces), kept, ())


def _refuse_taken(order: Order) -> None:
    """Refuse a name that a rule or a function of the same scope has."""
    for each in order.dialect.find(order.roots):
        for hook in order.dialect.load(each, Files()).hooks if each.scope == order.scope else ():
            if hook.name == order.name:
                kind = "function" if hook.handler == "function" else "rule"
                raise CannotScaffold(f"{hook.source} has a {kind} {order.name!r} already. Choose another name.")


FUNCTION = '''

@{when}
def {name}(call: Call) -> None:
    """{about}"""
    {does}
'''


def _function(order: Order, source: Source) -> Plan:
    """A function goes to the end of the `hooks.py` next to the rules."""
    path = f"{os.path.dirname(source.path)}/hooks.py"
    name = "".join(char if char.isalnum() else "_" for char in order.name)
    if not name.isidentifier():
        raise CannotScaffold(f"{order.name!r} cannot be the name of a function. Begin it with a letter.")
    own = next((each for each in order.dialect.find(order.roots) if each.path == path), source)
    _refuse_taken(order)
    event, log = order.row.native, ""
    called = f', name="{order.name}"' if name != order.name else ""
    tools = f", tools={json.dumps(order.tool.split('|'))}" if order.tool else ""
    if order.row.block in EFFECTS:
        named = "" if event == "pre_tool" else f"event {event} and "
        when, needs = f'before("{named}matches /{MARK}/"{tools}{called})', "Call, before, deny"
        about, does = "Refuse calls that hold a word.", f'deny("The call holds the word {MARK}.")'
    else:
        log = f"{os.path.dirname(source.path)}/{order.name}.log"
        when, needs = f'on("{event}"{called})', "Call, on"
        about, does = "Write the event down.", f'print(call.data, file=open({log!r}, "a"))'
    text = FUNCTION.format(when=when, name=name, about=about, does=does)
    old, before = _old_text(path)
    line = f"from anyhook.hooks import {needs}\n"
    if line not in before:
        before = f"{before.rstrip()}\n\n{line}" if before.strip() else line
    piece = Piece(path, f"{before.rstrip()}\n{text}", old=old)
    return Plan(own, "", "", (piece,), log, ())


def _look_around(order: Order, shape: ScaffoldShape, source: Source, folder: str, file: str) -> list[str]:
    """Refuse a name that is taken; returns notes about what the new hook does to others."""
    _refuse_taken_place(order, shape, source, folder, file)
    # A handler in a list has the name of its script, including the extension.
    endings = ("",) if shape in ("folder", "executable", "events") else ENDINGS.values()
    names = {f"{order.name}{ending}" for ending in endings}
    sources = reversed(order.dialect.find(order.roots))  # of several files of one scope, hooks are added to the first
    layers = {each.scope: order.dialect.load(each, Files()) for each in sources}
    for hook in layers[order.scope].hooks:
        if hook.name in names:
            raise CannotScaffold(f"{hook.source} has a hook {hook.name!r} already. Choose another name.")
    other = layers.get("user" if order.scope == "project" else "project")
    note = _meeting(order, layers[order.scope], other) if other is not None else ""
    return [note] if note else []


def _refuse_taken_place(order: Order, shape: ScaffoldShape, source: Source, folder: str, file: str) -> None:
    if shape == "events" and os.path.lexists(f"{folder}/{file}"):
        raise CannotScaffold(
            f"{folder}/{file} is there already, and {order.dialect.title} runs one program for each event. "
            "Add to it, or remove it."
        )
    taken = {
        "folder": (f"{source.path}/{order.name}",),
        "executable": (f"{folder}/{file}", f"{folder}/{file}{special(order.dialect.name, 'OFF_SUFFIX') or ''}"),
    }.get(shape, tuple(f"{folder}/{order.name}{ending}" for ending in ENDINGS.values()))
    for path in taken:
        if os.path.lexists(path):
            raise CannotScaffold(f"{path} is there already. Choose a name other than {order.name!r}, or remove it.")


def _meeting(order: Order, own: Layer, other: Layer) -> str:
    """What happens where the new hook meets those of the other scope; "" for nothing special."""
    event = order.row.native
    if order.dialect.layering == "replace_lists":
        lost = [hook.id for hook in other.hooks if hook.native_event == event]
        if order.scope == "project" and lost and event not in own.replaces:
            return f"A project's list replaces the user's: in this project, {', '.join(lost)} will not run any more."
        if order.scope == "user" and event in other.replaces:
            return f"This project has its own list for {event}, which replaces the user's: the hook will not run here."
    elif order.dialect.layering.endswith("_name_wins") and any(hook.name == order.name for hook in other.hooks):
        return f"A hook {order.name!r} is in both scopes; the project's goes before the user's."
    return ""


def _front_matter(order: Order) -> str:
    lines = [
        "---",
        f"name: {scalar(order.name)}",
        f"description: A hook for {order.row.native}. Say here what it is for.",
        f"trigger: {order.row.native}",
    ]
    if order.matched:
        lines += ["matcher:", f"  tool: {scalar(order.tool)}"]
    return "\n".join([*lines, "---", "", f"# {order.name}", "", "What the hook does, and why.", ""])


def _declaration(order: Order, scaffold: Scaffold, source: Source, command: str) -> Piece:
    handler = declared(scaffold, order.row.native, command, order.tool if order.matched else "")
    paths = [f"{source.path}/{name}" for name in scaffold.declared_in] or [source.path]
    path = next((each for each in paths if os.path.lexists(each)), paths[0])
    place = scaffold.under if scaffold.shape == "rows" else (*scaffold.under, order.row.native)
    return _appended(path, place, handler, scaffold.top)


def _appended(
    path: str, place: tuple[str, ...], entry: dict[str, Json], top: Mapping[str, Json], first: str = ""
) -> Piece:
    """A file with one more entry; `first` is the start of a new file."""
    old, content = _old_text(path)
    syntax = syntax_of(path, content)
    try:
        _check_document(content, syntax)
        new = edit.append(content or first or _begun(syntax, top), syntax, place, entry)
    except (edit.CannotEdit, Unreadable) as error:
        by_hand = edit.append(_begun(syntax, top), syntax, place, entry)
        raise CannotScaffold(
            f"{path} is left as it is: {error}. Correct it, or write the hook's script and add this by hand:\n{by_hand}"
        ) from None
    return Piece(path, new, old=old)


def _old_text(path: str) -> tuple[bytes | None, str]:
    """What is in a file that something is added to; None and "" if it is not there."""
    try:
        old = read_bytes(path)
        return old, old.decode("utf-8")
    except FileNotFoundError:
        return None, ""
    except UnicodeDecodeError:
        raise CannotScaffold(f"{path} is not UTF-8 text, so nothing is added to it. Save it as UTF-8.") from None
    except Unreadable as error:
        raise CannotScaffold(f"{path}: {error}.") from None


def _begun(syntax: Syntax, top: Mapping[str, Json]) -> str:
    """The text of a file before its first hook."""
    return json.dumps(top, indent=2, ensure_ascii=False) + "\n" if syntax == "json" else ""


def _check_document(text: str, syntax: Syntax) -> None:
    """Refuse what the dialect itself would not read: the editor is more lenient."""
    if syntax != "json" or edit.is_blank(text):
        return
    twice = repeated_key(text, parse_json(text))
    if twice is not None:
        raise edit.CannotEdit(f"line {twice[1]}: the key `{twice[0]}` is in it twice")


def find_hook(order: Order, made: Plan) -> Hook:
    """The new hook as its dialect reads it, after it is written; raises CannotScaffold if the dialect would not run
    it."""
    files = Files()
    key = order.dialect.scaffold.key.rpartition(".")[2] if order.dialect.scaffold else ""
    hooks = order.dialect.load(made.source, files).hooks
    if made.command:
        event = order.row.native
        new = [hook for hook in hooks if hook.spec.get(key) == made.command and hook.native_event == event]
    else:
        new = [hook for hook in hooks if hook.name in (order.name, os.path.basename(made.script))]
    if new and new[-1].status == ARMED:
        return new[-1]
    path = made.pieces[-1].path
    wrong = [problem for problem in files.problems if problem.where.startswith(path)]
    why = f"{wrong[0].what}. {wrong[0].fix}" if wrong else "the dialect does not read it."
    raise CannotScaffold(f"a hook in {path} would not run: {why} Nothing was written.")


# -- writing, all or none. A file that has changed since the plan was made is never overwritten


def write(order: Order, script: str = "") -> tuple[Plan, Hook]:
    """Plans the hook, writes it, and checks that the dialect accepts it. `script` is its text; "" for one made from the
    event's row."""
    at = order.roots.home if order.scope == "user" else order.roots.project
    try:
        with locked(at), ExitStack() as undo:  # one at a time: each plan sees what the one before has written
            made = plan(order, script)
            for piece in made.pieces:
                at = piece.path
                _put(piece, undo)
            hook = find_hook(order, made)
            undo.pop_all()
            return made, hook
    except OSError as error:
        where = f"{error.strerror}: {error.filename or at}"
        raise CannotScaffold(f"{at} cannot be written ({where}). Check the folder's permissions.") from None


def _put(piece: Piece, undo: ExitStack) -> None:
    _make_folder(os.path.dirname(piece.path), undo)
    new = piece.text.encode()
    if piece.old is None:
        mode = 0o777 if piece.executable else 0o666
        try:
            descriptor = os.open(piece.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        except FileExistsError:
            raise CannotScaffold(f"{piece.path} is there already. Choose another name, or remove it.") from None
        undo.callback(_quietly, os.unlink, piece.path)
        with os.fdopen(descriptor, "wb") as file:
            file.write(new)
        return
    # A link stays a link: people keep such files elsewhere.
    path = os.path.realpath(piece.path)
    with locked(os.path.dirname(path)):
        if _bytes(path) != piece.old:
            raise CannotScaffold(f"{piece.path} was changed meanwhile. Nothing was written; try again.")
        mode = stat.S_IMODE(os.stat(path).st_mode)
        replace_file(path, new, mode)
    undo.callback(_quietly, _restore, path, piece.old, new, mode)


def _make_folder(folder: str, undo: ExitStack) -> None:
    if os.path.isdir(folder):
        return
    _make_folder(os.path.dirname(folder), undo)
    try:
        os.mkdir(folder)
    except FileExistsError:
        raise NotADirectoryError(errno.ENOTDIR, "there is a file where a folder must be", folder) from None
    undo.callback(_quietly, os.rmdir, folder)


def _restore(path: str, old: bytes, new: bytes, mode: int) -> None:
    """What others wrote in the meantime stays."""
    with locked(os.path.dirname(path)):
        if _bytes(path) == new:
            replace_file(path, old, mode)


def _quietly(act: Callable[..., None], *given: object) -> None:
    with suppress(OSError):
        act(*given)


def _bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
