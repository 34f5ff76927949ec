"""TOML files with `[[hooks]]` tables as text: ours stand in a block of their own between two comments, so that putting
them in and taking them out leaves every other byte alone."""

from __future__ import annotations

import json
import re
import tomllib

from anyhook.documents.json_text import line_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from anyhook.model.json_types import Json

BEGIN = "# >>> anyhook: written by `anyhook install`, taken out by `anyhook uninstall`"
END = "# <<< anyhook"
INLINE = "its hooks are not written as [[hooks]] tables; write them so first"
BLOCK = re.compile(rf"(?:\r?\n)?{re.escape(BEGIN)}\r?\n.*?{re.escape(END)}(?:\r?\n|$)", re.DOTALL)
"""With the end of line before it, which came with it: so a last line that had none has none afterwards."""


TABLE = re.compile(r"(?:^\r?\n)?^\[\[hooks\]\][ \t]*\r?\n(?:[\w-]+[ \t]*=.*(?:\n|\Z))+", re.MULTILINE)
"""One table, as an agent leaves it that writes its config anew without comments; and a blank line before it."""


class Refused(Exception):  # noqa: N818 (it says what happened)
    """The file cannot be edited safely: why."""


def with_block(text: str, hooks: Sequence[dict[str, Json]], ours: Callable[[Json], bool]) -> str:
    """The text with our block, at the end or where it was. `ours` tells a command line of ours."""
    said = "\n".join(f"[[hooks]]\n{''.join(_line(key, value) for key, value in hook.items())}" for hook in hooks)
    block = f"{BEGIN}\n{said}{END}\n".replace("\n", line_end(text))
    kept = _document(text, "it is no TOML")
    before, after = _parts(text, ours)
    made = before + (line_end(text) if before or after else "") + block + after
    return _checked(made, kept, ours)


def without_block(text: str, ours: Callable[[Json], bool]) -> str:
    """The text without our block, and without tables of ours whose block is gone."""
    before, after = _parts(text, ours)
    made = before + (line_end(text) if after and before and not before.endswith("\n") else "") + after
    return made if made == text else _checked(made, _document(text, "it is no TOML"), ours)


def _parts(text: str, ours: Callable[[Json], bool]) -> tuple[str, str]:
    """What stands before our block, and what after it."""
    found = BLOCK.search(text)
    parts = (text[: found.start()], text[found.end() :]) if found is not None else (text, "")
    before, after = (
        TABLE.sub(lambda table: "" if _is_ours(table.group(), ours) else table.group(), part) for part in parts
    )
    return before, after


def _is_ours(table: str, ours: Callable[[Json], bool]) -> bool:
    try:
        return not _others(tomllib.loads(table), ours)["hooks"]
    except ValueError:
        return False


def _checked(made: str, kept: dict[str, Json], ours: Callable[[Json], bool]) -> str:
    """The text, if nothing but our own tables is different in it."""
    if _others(_document(made, INLINE), ours) != _others(kept, ours):
        raise Refused(INLINE)
    return made


def _others(document: dict[str, Json], ours: Callable[[Json], bool]) -> dict[str, Json]:
    found = document.get("hooks", [])
    hooks = found if isinstance(found, list) else [found]
    return {**document, "hooks": [hook for hook in hooks if not (isinstance(hook, dict) and ours(hook.get("command")))]}


def _document(text: str, otherwise: str) -> dict[str, Json]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refused(f"{otherwise} ({error})") from None


def _line(key: str, value: Json) -> str:
    return f"{key} = {json.dumps(value, ensure_ascii=False)}\n"
