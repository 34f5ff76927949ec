"""The facts of a tool call: a shell line, a file tool's path, a patch, or the input of an unknown tool. The agent's
table says what its tools are called; without one, the tool's name and the keys of its input decide."""

from __future__ import annotations

from anyhook.model import lean_json
from anyhook.model.pattern import cached, later, re
from anyhook.model.record import Record
from anyhook.platform.launched import CpuLimit, OutOfTimeError
from anyhook.programs.collect import Collector, ScriptBudget
from anyhook.programs.commands import LANGUAGES, is_powershell
from anyhook.programs.effects import URL
from anyhook.programs.paths import resolve, slashed
from anyhook.programs.program import Program, Word
from anyhook.programs.quick import CONTENTS
from anyhook.programs.special import patched
from anyhook.programs.table import row_of
from anyhook.tables.registry import HOSTS, host
from anyhook.tables.translate import restored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from anyhook.model.event import Event
    from anyhook.model.json_types import Json
    from anyhook.programs.facts import Facts

LINES = (
    "command",
    "cmd",
    "commands",
    "script",
    "shell_command",
    "command_line",
    "commandLine",
    "cmdline",
    "argv",
    "chars",
    "bash",
    "shell_script",
)
"""Keys whose value a shell runs."""
CODE_KEYS = ("code", "source_code")
TYPED = ("text", "keys", "input", "data", "keystrokes")
"""Keys whose value is typed into a shell, if the tool's name says that there is one,"""
DEEDS = frozenset({
    "append", "create", "delete", "edit", "insert", "modify", "overwrite", "remove", "replace", "save", "undo",
    "update", "view", "write",
})  # fmt: skip
"""What a tool of files may be told to do: each a `command` of one word."""
READ_S = 10.0
"""CPU time after which a call is not read any further. The slowest of 21,122 real calls took 0.03 s."""
STATEMENT_KEYS = ("sql", "query", "statement")
QUERYING = frozenset({"sql", "db", "database", "query", "postgres", "postgresql", "supabase", "execute"})
CHANGES_DATA = later(
    r"(?is)\s*(?:--[^\n]*\n\s*)*(?:drop|truncate|delete\s+from|alter|update\s+\S+\s+set|grant|revoke)\b"
)
"""How a statement for a database begins that a guard may ask about."""
TERMINALS = frozenset({"terminal", "term", "tty", "pty", "shell", "console", "tmux", "keys", "keystrokes", "stdin"})
"""with one of these words."""
EDITORS = frozenset({"editor", "edit", "str", "text"})
"""Words in the names of tools whose `command` is what to do to a file."""
PATHS = (
    "path", "file_path", "filePath", "filepath", "file", "filename", "fileName", "absolute_path", "absolutePath",
    "relative_path", "notebook_path", "target_file", "uri", "target",
    "paths", "files", "dir_path", "directory", "dir", "folder", "file_name", "TargetFile", "AbsolutePath",
)  # fmt: skip
SOURCES = ("source", "src", "from", "old_path", "oldPath", "source_path", "sourcePath", "from_path")
TARGETS = (
    "destination",
    "dest",
    "dst",
    "to",
    "new_path",
    "newPath",
    "destination_path",
    "destinationPath",
    "to_path",
    "output",
    "output_path",
    "link",
    "link_path",
    "linkPath",
    "link_name",
)
FOLDERS = ("cwd", "workdir", "working_directory", "workingDirectory", "working_dir", "workspace", "dir_path")
PATCHES = ("patch", "input", "command", "patch_text", "patchText", "diff")
CELL = later(r"\s*%%(?:bash|sh|script\s+\S+)[^\n]*\n")
LINE_IN_CELL = later(r"(?m)^[ \t]*!(.+)")
"""In notebooks, a cell for a shell, and a line for one."""
DELETING = frozenset({"delete", "remove", "unlink", "trash", "rmdir", "erase"})
MOVING = frozenset({"move", "rename"})
COPYING = frozenset({"copy", "upload", "download"})
WRITING = frozenset({
    "write", "edit", "create", "append", "patch", "insert", "replace", "update", "save", "truncate", "modify", "put",
    "set", "mkdir", "touch", "overwrite", "undo", "refactor", "format", "store", "generate", "notebook", "fsreplace",
    "checkout", "restore", "revert", "discard",
})  # fmt: skip
READING = frozenset(
    {
        "read",
        "view",
        "cat",
        "open",
        "get",
        "list",
        "ls",
        "glob",
        "grep",
        "search",
        "find",
        "show",
        "fetch",
        "stat",
        "tree",
        "head",
        "query",
    }
)
FILLING = CONTENTS | {"text", "data", "body"}
TARGETING, CHANGING = MOVING | COPYING | WRITING, MOVING | WRITING
NOT_FILES = (
    "issue",
    "comment",
    "page",
    "message",
    "ticket",
    "todo",
    "task",
    "memory",
    "event",
    "calendar",
    "mail",
    "branch",
    "pull_request",
    "label",
    "milestone",
)


def facts_of(
    tool: str, tool_input: Mapping[str, Json], *, cwd: str | None, home: str, project: str | None,
    agent: str | None = None,
    variables: Mapping[str, str] | None = None,
    reads_files: bool = True,
) -> Facts:  # fmt: skip
    """What a call would do, also the files that it runs, with `reads_files`. It never raises: what it cannot read is in
    `unknown`."""
    return _read(
        tool, dict(tool_input), agent, cwd, Collector(home, variables, ScriptBudget() if reads_files else None)
    )


def _read(tool: str, tool_input: dict[str, Json], agent: str | None, cwd: str | None, into: Collector) -> Facts:
    cwd = cwd and slashed(cwd, "/")
    try:
        with CpuLimit(READ_S):
            for name, given in _parts(tool, tool_input, agent):
                _look(name, given, cwd, into)
    except (Exception, OutOfTimeError) as error:  # noqa: BLE001 (whatever it was: a rule can ask for what is unknown)
        into.give_up(f"{type(error).__name__} while reading the call")
    return into.facts()


def facts_of_event(
    event: Event, *, cwd: str | None, home: str, variables: Mapping[str, str] | None = None,
    reads_files: bool = True,
    keep: bool = False,
) -> Facts:  # fmt: skip
    """The facts of a tool event, with the names of any agent. With `keep`, the next question about this event is
    answered with them, if it is the same one: self-protection asks before the rules do."""
    variables = variables or {}
    known = kept.facts.pop((id(event), cwd, home), None)
    if known is not None and known.event is event and _says_the_same(known, variables):
        return known.facts
    facts, texts = _read_event(event, cwd, home, variables, ScriptBudget() if reads_files else None)
    if keep and reads_files:
        _keep(event, cwd, home, variables, facts, texts)
    return facts


def read_event(
    event: Event, *, cwd: str | None, home: str, variables: Mapping[str, str]
) -> tuple[Facts, tuple[str, ...]]:
    """The facts of a tool event, for the next question about it too, and the texts of the files that it runs."""
    facts, texts = _read_event(event, cwd, home, variables, ScriptBudget())
    _keep(event, cwd, home, variables, facts, texts)
    return facts, texts


def _read_event(
    event: Event, cwd: str | None, home: str, variables: Mapping[str, str], budget: ScriptBudget | None
) -> tuple[Facts, tuple[str, ...]]:
    given = event.data.get("input")
    given = given if isinstance(given, dict) else {}
    tool = event.ours or str(event.data.get("tool") or "")
    if event.inputs:
        given = restored(given, event.inputs)
    facts = _read(tool, given, None, cwd, Collector(home, variables, budget))
    return facts, () if budget is None else budget.texts()


def _keep(
    event: Event, cwd: str | None, home: str, variables: Mapping[str, str], facts: Facts, texts: tuple[str, ...]
) -> None:
    if len(kept.facts) >= MAX_READ_CALLS:
        kept.facts.clear()
    kept.facts[id(event), cwd, home] = ReadCall(
        event, variables, (*lean_json.every_text(event.data.get("input")), *texts), facts
    )


MAX_READ_CALLS = 8


class ReadCall(Record):
    """The facts of a call, and what they were read from."""

    event: Event
    variables: Mapping[str, str]
    texts: tuple[str, ...]
    """Of the call, and of the files that it runs."""
    facts: Facts


class Kept:
    """The calls that are being judged."""

    def __init__(self) -> None:
        self.facts: dict[tuple[int, str | None, str], ReadCall] = {}
        """By event (which is kept, so that its number stays its own), folder and home."""


kept = Kept()


def _says_the_same(known: ReadCall, variables: Mapping[str, str]) -> bool:
    """Whether a line means the same with these variables: those that were not known are not in it."""
    if any(variables.get(name) != value for name, value in known.variables.items()):
        return False
    text = "\n".join(known.texts).replace("\\\n", "")
    return not any(name in text for name in variables.keys() - known.variables.keys())


def _parts(tool: str, given: dict[str, Json], agent: str | None) -> list[tuple[str, dict[str, Json]]]:
    """The call with our own names, as several calls for a batch or a patch."""
    if agent is None:
        return [(tool, given)]
    row = host(agent).tools.get(tool) if agent in HOSTS else None
    if row is None:
        return [(tool, given)]
    parts = row.split(given) if row.split is not None else []
    return parts or [(row.ours, restored(given, row.inputs))]


def _look(tool: str, given: dict[str, Json], cwd: str | None, into: Collector) -> None:
    folder = next(filter(None, _texts(given, FOLDERS)), "")
    if folder and not any(key in given for key in ("old_text", "content")):
        cwd = resolve(folder.replace("~", into.home, 1) if folder.startswith("~/") else folder, cwd)
    if _patched(tool, given, cwd, into):
        return
    for each in _calls_inside(given):
        _look(tool, each, cwd, into)
    named, keys = _language_of(tool)
    lines = list(_lines(tool, {key: given[key] for key in given if key not in keys}))
    for line in lines:
        _shell(tool, given, line, cwd, into)
    code = next(iter(_texts(given, keys)), "")
    if not lines and code and given.keys().isdisjoint(PATHS):
        _code(given, code, named, cwd, into)
    elif not lines:
        _statements(tool, given, cwd, into)
        _files(tool, _words(tool), given, cwd, into)


@cached
def _language_of(tool: str) -> tuple[str, tuple[str, ...]]:
    """The language that a tool's name says it runs, and the keys that its code may have: a `script` is a shell's unless
    the language is another."""
    named = next((LANGUAGES[word] for word in _words(tool) if word in LANGUAGES), "")
    return named, CODE_KEYS if not named or row_of(named).is_shell else (*CODE_KEYS, "script")


def _statements(tool: str, given: dict[str, Json], cwd: str | None, into: Collector) -> None:
    """What a tool tells a database, as if a client were told."""
    asks = any(word in QUERYING or row_of(word).own_files for word in _words(tool))
    keys = STATEMENT_KEYS if asks else STATEMENT_KEYS[:1]
    for text in _texts(given, keys):
        if CHANGES_DATA.match(text):
            words = (Word("-c", "-c"), Word(text, text))
            into.program(Program("psql", ("-c", text), words, "psql", cwd=cwd))


def _calls_inside(given: dict[str, Json]) -> Iterator[dict[str, Json]]:
    """The calls of a batch, or one inside an envelope."""
    for value in given.values():
        for each in value if isinstance(value, list) else (value,):
            if isinstance(each, dict) and any(isinstance(each.get(key), (str, list)) for key in LINES):
                yield each


def _patched(tool: str, given: dict[str, Json], cwd: str | None, into: Collector) -> bool:
    """Whether the call is a patch; if so, its files are noted."""
    patch = next((text for text in _texts(given, PATCHES) if "*** Begin Patch" in text), "")
    line = given.get("command")
    in_line = isinstance(line, str) and not line.lstrip().startswith("*** Begin")
    if not patch or (in_line and "patch" not in tool.lower()):
        return False
    for action, path in patched(patch):
        into.note(action, path, cwd)
    return True


def _texts(given: dict[str, Json], keys: tuple[str, ...]) -> list[str]:
    """The texts under these keys, in their order."""
    return [value for key in keys if key in given and isinstance(value := given[key], str)]


@cached
def _words(tool: str) -> tuple[str, ...]:
    """The words of a tool's name; cached, because the same few names come again and again."""
    if tool.isascii() and tool.isalpha() and tool[1:].islower():
        return (tool.lower(),)
    return tuple([word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", tool.rpartition("__")[2])])


@cached
def _is_terminal(tool: str) -> bool:
    if tool.isascii() and tool.isalpha():
        return tool.lower() in TERMINALS
    return not TERMINALS.isdisjoint(re.findall("[a-z]+", tool.lower()))


def _lines(tool: str, given: dict[str, Json]) -> Iterator[str]:
    """The shell lines in an input."""
    if any(key in given for key in PATHS) and (not EDITORS.isdisjoint(_words(tool)) or _is_deed(given.get("command"))):
        return
    for key in (*LINES, *TYPED) if _is_terminal(tool) else LINES:
        if key in given:
            yield from _lines_of(key, given[key], given.get("args") or given.get("arguments"))
    words = _words(tool)
    if words and row_of(words[0]).special in ("git", "cloud") and given.keys().isdisjoint(LINES):
        flags = [f"--{key.replace('_', '-')}" for key, value in given.items() if value is True]
        yield " ".join([*words, *flags, *_texts(given, ("args",))])


def _is_deed(command: Json) -> bool:
    """Whether it says what to do to a file, as `insert` and `str_replace` do, and is not a shell line."""
    return isinstance(command, str) and not DEEDS.isdisjoint(command.lower().split("_"))


def _lines_of(key: str, value: Json, args: Json) -> Iterator[str]:
    """The lines under one key: a text, the words of one, or several."""
    if isinstance(value, str):
        with_args = isinstance(args, list) and key in ("command", "cmd")
        yield _joined({"command": value, "args": args}) if with_args else value
    elif isinstance(value, list) and value:
        yield from map(_joined, value) if key == "commands" else [_joined(value)]


def _joined(value: Json) -> str:
    import shlex

    if isinstance(value, dict):
        args = value.get("args")
        text = str(value.get("command") or "")
        return shlex.join([text, *map(str, args)]) if isinstance(args, list) else text
    return shlex.join(map(str, value)) if isinstance(value, list) else str(value)


def _shell(tool: str, given: dict[str, Json], line: str, cwd: str | None, into: Collector) -> None:
    if is_powershell(tool) or ("shell" in given and is_powershell(str(given["shell"]))):
        into.unknown.append(f"not read: a line of PowerShell or cmd, `{line[:60]}`")
        into.powershell(line, Program("", cwd=cwd))
        return
    if any(row_of(word.removesuffix(".exe")).language == "powershell" for word in line.split(None, 1)[:1]):
        into.unknown.append(f"not read: a line of PowerShell or cmd, `{line[:60]}`")
    into.shell(line, cwd)


def _code(given: dict[str, Json], code: str, named: str, cwd: str | None, into: Collector) -> None:
    """A tool that runs code in some language; the name of the tool may say in which."""
    from anyhook.programs.code import look_at_code

    language = str(given.get("language") or given.get("lang") or "").lower()
    name = LANGUAGES.get(language) or named or "python3"
    if row_of(name).is_shell:
        into.shell(code, cwd)
        return
    if cell := CELL.match(code):
        into.shell(code[cell.end() :], cwd)
        return
    program = Program(name, cwd=cwd, code=LINE_IN_CELL.sub("", code), path=name)
    into.runs.append(program)
    for line in LINE_IN_CELL.findall(code):
        into.line(line, program)
    look_at_code(program, into)


def _files(tool: str, words: Sequence[str], given: dict[str, Json], cwd: str | None, into: Collector) -> None:
    """A file tool, by its name and its paths."""
    _addresses(given, into)
    is_file = not any(word in tool.lower() for word in NOT_FILES)
    for path in _paths_in(given, SOURCES, into.home):
        into.note("read" if MOVING.isdisjoint(words) else "delete", path, cwd)
    if not TARGETING.isdisjoint(words):
        for path in _paths_in(given, TARGETS, into.home):
            into.write(path, cwd)
    action = _action(words, given)
    for path in _paths_in(given, PATHS, into.home):
        if is_file or "/" in path:
            into.note(action, path, cwd)
    for key in ("edits", "changes", "operations"):
        parts = given.get(key)
        for each in parts if isinstance(parts, list) else ():
            if isinstance(each, dict):
                _files(tool, [*words, "edit"], each, cwd, into)


def _paths_in(given: dict[str, Json], keys: tuple[str, ...], home: str) -> Iterator[str]:
    for key in keys:
        for text in lean_json.every_text(given[key]) if key in given else ():
            if "\n" not in text and len(text) < 4096 and not (URL.match(text) and not text.startswith("file:")):
                yield home + text[1:] if text.startswith("~/") or text == "~" else text


def _addresses(given: dict[str, Json], into: Collector) -> None:
    for text in lean_json.every_text(given):
        if len(text) < 4096 and URL.match(text):
            into.connect(text)
    for value in _texts(given, ("url", "endpoint", "host", "hostname", "domain")):
        if value and not URL.match(value):
            into.connect(value)


def _action(words: Sequence[str], given: dict[str, Json]) -> str:
    """What a tool does to its paths, by its name and by the operation that its input names."""
    told = [given.get(key) for key in ("command", "operation", "action", "mode")]
    operation = str(next(filter(None, told), "")).lower()
    if operation in ("view", "read", "list"):
        return "read"
    if not DELETING.isdisjoint((*words, operation)):
        return "delete"
    writes = not CHANGING.isdisjoint(words) or (operation != "" and READING.isdisjoint(words))
    return "write" if writes or _has_text(given) else "read"


def _has_text(given: dict[str, Json]) -> bool:
    return not given.keys().isdisjoint(FILLING)
