"""TOML files with `[[hooks]]` tables as text: ours stand in a block of their own between two comments, so that putting
them in and taking them out leaves every other byte alone."""

from __future__ import annotations

import json
import re
import tomllib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from anyhook.model.json_types import Json

BEGIN = "# >>> anyhook: written by `anyhook install`, taken out by `anyhook uninstall`"
END = "# <<< anyhook"
INLINE = "its hooks are not written as [[hooks]] tables; write them so first"
BLOCK = re.compile(rf"\n?{re.escape(BEGIN)}\n.*?{re.escape(END)}\n", re.DOTALL)


class Refused(Exception):  # noqa: N818 (it says what happened)
    """The file cannot be edited safely: why."""


def with_block(text: str, hooks: Sequence[dict[str, Json]]) -> str:
    """The text with our block, at the end or where it was."""
    said = "\n".join(f"[[hooks]]\n{''.join(_line(key, value) for key, value in hook.items())}" for hook in hooks)
    block = f"{BEGIN}\n{said}{END}\n"
    found = BLOCK.search(text)
    if found is not None:
        lead = "\n" if found.group().startswith("\n") else ""
        made = text[: found.start()] + lead + block + text[found.end() :]
    else:
        made = text + ("" if not text or text.endswith("\n") else "\n") + ("\n" if text.strip() else "") + block
    before, after = _document(text, "it is no TOML"), _document(made, INLINE)
    others = [[hook for hook in _hooks(each) if hook not in hooks] for each in (before, after)]
    if others[0] != others[1] or {**before, "hooks": 0} != {**after, "hooks": 0}:
        raise Refused(INLINE)
    return made


def without_block(text: str) -> str:
    """The text without our block."""
    return BLOCK.sub("", text, count=1)


def _document(text: str, otherwise: str) -> dict[str, Json]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refused(f"{otherwise} ({error})") from None


def _hooks(document: dict[str, Json]) -> list[Json]:
    found = document.get("hooks", [])
    return found if isinstance(found, list) else [found]


def _line(key: str, value: Json) -> str:
    return f"{key} = {json.dumps(value, ensure_ascii=False)}\n"
