"""Adds one entry to the text of a file that declares hooks, so that everything else in it stays: order, other keys, and
in YAML and TOML every comment. It writes no file, and never gives back a text that reads as anything but the old
entries and the new one."""

from __future__ import annotations

import json

from anyhook.documents import documents

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from yaml.nodes import MappingNode, Node

    from anyhook.model.json_types import Json

    Object = dict[str, Json]

BOM = "\ufeff"


class Untouchable(Exception):  # noqa: N818 - a state of the file, not a fault of the program
    """Why the entry cannot be added without a risk for what is there."""


def syntax_of(path: str, text: str) -> str:
    """By the ending; a YAML file that begins like JSON is JSON."""
    if path.endswith((".json", ".toml")):
        return path.rsplit(".", 1)[1]
    return "json" if text.lstrip(f"{BOM} \t\r\n")[:1] in ("{", "[") else "yaml"


def snippet(syntax: str, event: str, entry: Object, top: Mapping[str, Json]) -> str:
    """The entry as a file of its own would hold it."""
    if syntax == "toml":
        return _toml_block(event, entry)
    if syntax == "yaml":
        return f"hooks:\n  {event}:\n{_yaml_item(entry, 4)}"
    return json.dumps({**top, "hooks": {event: [entry]}}, indent=2, ensure_ascii=False) + "\n"


def add(text: str, syntax: str, event: str, entry: Object, top: Mapping[str, Json]) -> str:
    """The text with the entry at the end of its event's list."""
    if not text.strip(f"{BOM} \t\r\n"):
        return text + snippet(syntax, event, entry, top)
    parse, edit = _TOOLS[syntax]
    try:
        wanted = _with_entry(parse(text), event, entry, top)
        new = edit(text, event, entry, wanted)
        found = parse(new)
    except documents.Unreadable as error:
        raise Untouchable(str(error)) from None
    if found != wanted:
        raise Untouchable("it is written in a way that cannot be added to without rewriting it")
    return new


def _with_entry(document: Json, event: str, entry: Object, top: Mapping[str, Json]) -> Object:
    """What the file must say afterwards."""
    if document is None:
        return {**top, "hooks": {event: [entry]}}
    if not isinstance(document, dict):
        raise Untouchable("it does not hold an object")
    hooks = document.get("hooks")
    if hooks is not None and not isinstance(hooks, dict):
        raise Untouchable("its `hooks` are no map of events")
    entries = hooks.get(event) if hooks else None
    if entries is not None and not isinstance(entries, list):
        raise Untouchable(f"its `hooks.{event}` is no list")
    return {**document, "hooks": {**(hooks or {}), event: [*(entries or []), entry]}}


# --- JSON


def _edit_json(text: str, _event: str, _entry: Object, wanted: Object) -> str:
    """Written anew, because JSON has no comments to lose; of keys that stand there twice, one would be lost."""
    json.loads(text.removeprefix(BOM), object_pairs_hook=_no_twins)
    return text[: len(text) - len(text.removeprefix(BOM))] + json.dumps(wanted, indent=2, ensure_ascii=False) + "\n"


def _no_twins(pairs: list[tuple[str, Json]]) -> Object:
    made = dict(pairs)
    if len(made) != len(pairs):
        twin = next(key for index, (key, _) in enumerate(pairs) if key in dict(pairs[:index]))
        raise Untouchable(f"the key {twin!r} stands in it twice, and one of the two would be lost")
    return made


# --- TOML


def _edit_toml(text: str, event: str, entry: Object, _wanted: Object) -> str:
    return _with_line_end(text) + "\n" + _toml_block(event, entry)


def _toml_block(event: str, entry: Object) -> str:
    lines = [f"[[hooks.{event}]]", *_toml_fields(entry)]
    for key, value in entry.items():
        if isinstance(value, list):
            for each in value:
                lines += ["", f"[[hooks.{event}.{key}]]", *_toml_fields(each if isinstance(each, dict) else {})]
    return "\n".join(lines) + "\n"


def _toml_fields(fields: Object) -> list[str]:
    plain = {key: value for key, value in fields.items() if not isinstance(value, list)}
    return [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in plain.items()]


# --- YAML


def _edit_yaml(text: str, event: str, entry: Object, _wanted: Object) -> str:
    import yaml
    from yaml.nodes import MappingNode, SequenceNode

    # The pure reader: its places count characters, and the text has been found to be shallow before.
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if not isinstance(root, MappingNode):
        return _with_line_end(text) + snippet("yaml", event, entry, {})
    hooks = _under(root, "hooks")
    if hooks is None:
        return _with_line_end(text) + snippet("yaml", event, entry, {})
    key, value = hooks
    if not isinstance(value, MappingNode):
        return _insert(text, key.end_mark.index, f"  {event}:\n{_yaml_item(entry, 4)}")
    listed = _under(value, event)
    column = value.value[0][0].start_mark.column if value.value else 2
    if listed is None:
        return _insert(text, _end(text, value), f"{' ' * column}{event}:\n{_yaml_item(entry, column + 2)}")
    key, entries = listed
    if isinstance(entries, SequenceNode) and entries.value:
        return _insert(text, _end(text, entries), _yaml_item(entry, entries.start_mark.column))
    if isinstance(entries, SequenceNode):
        text = text[: entries.start_mark.index].rstrip(" ") + text[entries.end_mark.index :]
    return _insert(text, key.end_mark.index, _yaml_item(entry, column + 2))


def _under(node: MappingNode, key: str) -> tuple[Node, Node] | None:
    for name, value in node.value:
        if name.value == key:
            return name, value
    return None


def _end(text: str, node: Node) -> int:
    """Where the last thing written inside a block ends; a block's own end lies behind the comments that follow it."""
    from yaml.nodes import MappingNode, SequenceNode

    while isinstance(node, (MappingNode, SequenceNode)) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last if isinstance(node, SequenceNode) else last[1]
    return len(text[: node.end_mark.index].rstrip(" \t\r\n"))


def _insert(text: str, after: int, block: str) -> str:
    """The block as lines of its own, below the line of a place."""
    at = text.find("\n", after)
    head, tail = (_with_line_end(text), "") if at < 0 else (text[: at + 1], text[at + 1 :])
    return head + (block.replace("\n", "\r\n") if "\r\n" in text else block) + tail


def _yaml_item(entry: Object, indent: int) -> str:
    lead = " " * indent
    if not all(isinstance(value, str) for value in entry.values()):
        return f"{lead}- {json.dumps(entry, ensure_ascii=False)}\n"
    fields = [f"{key}: {yaml_scalar(str(value))}" for key, value in entry.items()]
    return f"{lead}- " + f"\n{lead}  ".join(fields) + "\n"


def yaml_scalar(value: str) -> str:
    """A text as YAML, in quotes only where it would not be read as that text."""
    try:
        if documents.parse_yaml(f"- {value}\n") == [value]:
            return value
    except documents.Unreadable:
        pass
    return "'" + value.replace("'", "''") + "'"


def _with_line_end(text: str) -> str:
    return text if not text or text.endswith("\n") else text + ("\r\n" if "\r\n" in text else "\n")


_TOOLS: dict[str, tuple[Callable[[str], Json], Callable[[str, str, Object, Object], str]]] = {
    "json": (documents.parse_json, _edit_json),
    "toml": (documents.parse_toml, _edit_toml),
    "yaml": (documents.parse_yaml, _edit_yaml),
}
