"""Functions for the cells of several dialects' tables: computed payload values, and matchers. A matcher returns None if
the hook wants the event, else the reason. It never hangs: a pattern that takes too long raises PatternTimeout."""

from __future__ import annotations

import time

from anyhook.model import lean_json as json
from anyhook.tables.patterns import PatternTimeout, compile_pattern, names_only

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from anyhook.model.event import Event
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json
    from anyhook.tables.rows import EventRow, Scene


MATCH_ALL = ("", "*")
CONTENT_LIMIT_S = 1.0
"""For all texts of one input together; each single search has its own, smaller bound."""


def native_name(scene: Scene) -> Json:
    return scene.native


def snake_case(native: str) -> str:
    """`PreToolUse` → `pre_tool_use`."""
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in native).lstrip("_")


def event_in_snake_case(scene: Scene) -> Json:
    return snake_case(scene.native)


def project(scene: Scene) -> Json:
    return scene.project


def projects(scene: Scene) -> Json:
    """For products that name several folders."""
    return [scene.project]


def fixed(value: Json) -> Callable[[Scene], Json]:
    """The same in every payload."""
    return lambda _scene: value


def agent_id(scene: Scene) -> Json:
    """The id of the sub-agent that makes the call; its name if the host gives no id."""
    return scene.event.get("agent_id") or scene.event.get("agent_name")


def session(scene: Scene) -> Json:
    return scene.session


def text_of(value: Json) -> str:
    """A tool's result as text: text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def output_alone(scene: Scene) -> Json:
    """The result as text."""
    return text_of(scene.event.get("output"))


def output_text(scene: Scene) -> Json:
    """The result as text; the error, if a failed tool has no result."""
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


# -- matchers


def always(_hook: Hook) -> bool:
    return True


def everything(_hook: Hook, _event: Event, _row: EventRow) -> str | None:
    """The dialect has no matchers."""
    return None


def whole_value(hook: Hook, event: Event, row: EventRow) -> str | None:
    """A pattern that must match all of the target; absent, empty and `*` match everything."""
    pattern = hook.matcher
    if not isinstance(pattern, str) or pattern in MATCH_ALL or row.target is None:
        return None
    return _full(pattern, event.get(row.target), row.target)


def searched(hook: Hook, event: Event, row: EventRow) -> str | None:
    """A pattern that must be found somewhere in the target; absent, empty and `*` match everything."""
    pattern = hook.matcher
    if not isinstance(pattern, str) or pattern in MATCH_ALL or row.target is None:
        return None
    target = str(event.get(row.target))
    found = compile_pattern(pattern).search(target)
    return None if found else f"matcher {pattern!r} does not match {row.target} {target!r}"


def names_or_pattern(hook: Hook, event: Event, row: EventRow) -> str | None:
    """Names joined by `|` are compared exactly, anything else is a pattern for the whole target."""
    pattern = hook.matcher.strip() if isinstance(hook.matcher, str) else ""
    if pattern in MATCH_ALL:
        return None
    target = event.get(row.target) if row.target else ""
    return _full(pattern, target, row.target or "nothing")


def _full(pattern: str, target: Json, field: str) -> str | None:
    text = target if isinstance(target, str) else str(target)
    names = names_only(pattern)
    if names is not None:
        return None if text in names else f"matcher {pattern!r} does not name {field} {text!r}"
    if compile_pattern(pattern).fullmatch(text):
        return None
    return f"matcher {pattern!r} does not match {field} {text!r}"


def is_plain(matcher: str, signs: str) -> bool:
    """Whether it consists of letters, digits and these characters only, and so is a list of names."""
    return all(char.isalnum() or char in signs for char in matcher)


def named_or_found(matcher: Json, event: Event, row: EventRow, signs: str) -> str | None:
    """A plain matcher is a list of names, separated by `|` or `,`, that must include the target. Any other matcher is a
    pattern that is searched for in the target."""
    if not isinstance(matcher, str) or matcher in MATCH_ALL or row.target is None:
        return None
    target = str(event.get(row.target))
    if is_plain(matcher, signs):
        names = [name.strip() for name in matcher.replace(",", "|").split("|")]
        return None if target in names else f"matcher {matcher!r} does not name {row.target} {target!r}"
    found = compile_pattern(matcher).search(target)
    return None if found else f"matcher {matcher!r} does not match {row.target} {target!r}"


def tool_and_content(hook: Hook, event: Event, row: EventRow) -> str | None:
    """`tool` is searched in the tool's name, `pattern` in its input; both must match. Only tool events have either."""
    matcher = hook.matcher
    tool, pattern = (matcher.get("tool"), matcher.get("pattern")) if isinstance(matcher, dict) else (None, None)
    if not tool and not pattern:
        return None
    if row.target is None:
        return "it has a matcher, and matchers apply to tool events only"
    name = str(event.get(row.target))
    if isinstance(tool, str) and tool not in MATCH_ALL and not compile_pattern(tool).search(name):
        return f"matcher.tool {tool!r} does not match tool {name!r}"
    if isinstance(pattern, str) and pattern not in MATCH_ALL and not _in_content(pattern, event.get("input")):
        return f"matcher.pattern {pattern!r} is not found in the tool's input"
    return None


def _in_content(pattern: str, content: Json) -> bool:
    """Each text in the input separately, then the input as one text: an end anchor can match a value's end, and a
    pattern written for the whole input still works."""
    compiled = compile_pattern(pattern)
    deadline = time.monotonic() + CONTENT_LIMIT_S
    for text in (*_leaves(content), json.dumps(content, ensure_ascii=False), _printed(content)):
        if compiled.search(text):
            return True
        if time.monotonic() > deadline:
            raise PatternTimeout(pattern)
    return False


def _printed(content: Json) -> str:
    try:
        return str(content)
    except (RecursionError, ValueError):  # too deep to be printed; it was searched as JSON
        return ""


def _leaves(content: Json) -> list[str]:
    found: list[str] = []
    rest: list[Json] = [content]
    while rest:
        value = rest.pop()
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, dict):
            rest.extend(value.values())
        elif isinstance(value, list):
            rest.extend(value)
        elif value is not None and not isinstance(value, bool):
            found.append(str(value))
    return found
