"""Batches and patches: one call of a host's tool that means several of our calls. A text that is not a patch has no
parts: hooks then see the whole call as the host gave it."""

from __future__ import annotations

from anyhook.model import lean_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.vocabulary import Input, Json

BEGIN, END = "*** Begin Patch", "*** End Patch"
ADD, UPDATE, DELETE, MOVE = "*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "


def split_patch(given: Input) -> list[tuple[str, Input]]:
    """One call per file: a new file is written, an existing one is edited. A file that moves is edited at its old path
    and written at its new one. A deletion is an edit that leaves nothing."""
    text = next((given[key] for key in ("command", "patch", "input") if isinstance(given.get(key), str)), "")
    lines = str(text).splitlines()
    if BEGIN not in (line.strip() for line in lines):
        return []
    parts: list[tuple[str, Input]] = []
    for line in lines:
        if line.startswith(ADD):
            parts.append(("write_file", {"path": line[len(ADD) :].strip(), "content": ""}))
        elif line.startswith((UPDATE, DELETE)):
            path = line.partition(": ")[2].strip()
            parts.append(("edit_file", {"path": path, "old_text": "", "new_text": ""}))
        elif line.startswith(MOVE):
            parts.append(("write_file", {"path": line[len(MOVE) :].strip(), "content": ""}))
        elif parts and not line.startswith("***"):
            _add_line(parts[-1][1], line)
    return parts


def split_shell(given: Input) -> list[tuple[str, Input]]:
    """A shell call, and after it the files of a patch that its line passes to `apply_patch`; [] if it passes none."""
    command = given.get("command")
    if not isinstance(command, str) or BEGIN not in command:
        return []
    before = command[: command.index(BEGIN)]
    if "apply_patch" not in before and "applypatch" not in before:
        return []
    patch = command[len(before) :].partition(END)[0]
    folder = before.partition("&&")[0].split()[1:2] if before.startswith("cd ") and "&&" in before else []
    parts = split_patch({"patch": patch})
    for _, part in parts:
        part["path"] = "/".join([*(name.strip("\"'") for name in folder), str(part["path"])])
    return [("shell", given), *parts] if parts else []


def rejoin_shell(given: Input, index: int, part: Input) -> Input | None:
    """The call with its line rewritten; None if the patch in it would differ from the one that was shown."""
    made = {**given, **part}
    return made if index == 0 and split_shell(made)[1:] == split_shell(given)[1:] else None


def split_editor(given: Input) -> list[tuple[str, Input]]:
    """An edit without a text to replace writes the whole file."""
    if given.get("old_text") or not isinstance(given.get("new_text"), str):
        return []
    return [("write_file", {"path": given.get("path"), "content": given["new_text"]})]


def rejoin_editor(given: Input, _index: int, part: Input) -> Input:
    """The editor's call with another file or another text."""
    return {**given, "path": part.get("path", given.get("path")), "new_text": part.get("content", given["new_text"])}


def _add_line(part: Input, line: str) -> None:
    """One line of a file's changes."""
    sign, rest = line[:1], line[1:]
    if "content" in part:
        if sign == "+":
            part["content"] = f"{part['content']}{rest}\n"
        return
    if sign in (" ", "-"):
        part["old_text"] = f"{part['old_text']}{rest}\n"
    if sign in (" ", "+"):
        part["new_text"] = f"{part['new_text']}{rest}\n"


def split_commands(given: Input) -> list[tuple[str, Input]]:
    """One call per command of a list."""
    commands = _listed(given.get("commands"))
    return [("shell", {"command": command_text(command)}) for command in commands]


def rejoin_commands(given: Input, index: int, part: Input) -> Input:
    """The list with one command rewritten."""
    commands = list(_listed(given.get("commands")))
    commands[index] = part.get("command", commands[index])
    return {**given, "commands": commands}


def split_files(given: Input) -> list[tuple[str, Input]]:
    """One call per file of a list."""
    return [
        ("read_file", {"path": file["path"]})
        if isinstance(file, dict) and "path" in file
        else ("read_file", {"path": file})
        for file in _listed(given.get("files")) or _listed(given.get("paths"))
    ]


def command_text(command: Json) -> Json:
    """A command as one line; some are given as program and arguments."""
    if isinstance(command, dict):
        words = [command.get("command"), *_listed(command.get("args"))]
        return " ".join(str(word) for word in words if word is not None)
    return command


def _listed(value: Json) -> list[Json]:
    """A list, even if it comes as JSON in a text."""
    if isinstance(value, str) and value.startswith("["):
        try:
            value = lean_json.loads(value)
        except (ValueError, RecursionError):
            return []
    return value if isinstance(value, list) else []
