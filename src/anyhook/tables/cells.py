"""Cells that several dialects' payloads use: values that are made rather than copied from a field."""

from __future__ import annotations

import time

from anyhook.model import lean_json as json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.tables.rows import Scene


def native_name(scene: Scene) -> Json:
    return scene.native


def project(scene: Scene) -> Json:
    return scene.project


def session(scene: Scene) -> Json:
    return scene.session


def text_of(value: Json) -> str:
    """A tool's result as text: text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def output_text(scene: Scene) -> Json:
    """The result as text; of a failed tool that gave none, the error."""
    return text_of(scene.event.get("output")) or scene.event.get("tool_error")


def failed(scene: Scene) -> Json:
    return scene.event.name == "post_tool_failure"


def local_time(_scene: Scene) -> Json:
    """Now, as ISO 8601 with the local offset."""
    now = time.time()
    local = time.localtime(now)
    sign, offset = ("-", -local.tm_gmtoff) if local.tm_gmtoff < 0 else ("+", local.tm_gmtoff)
    year, month, day, hour, minute, second, *_ = local  # `strftime` takes three times as long
    return (
        f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}"
        f"{sign}{offset // 3600:02d}:{offset % 3600 // 60:02d}"
    )


def utc_time() -> str:
    """Now, as ISO 8601 in UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
