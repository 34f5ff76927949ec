"""`anyhook fire`: run the hooks of one event, as an agent would. An agent waits for this code, so it imports no
command-line library, and no engine if nothing is hooked."""

from __future__ import annotations

import os
import sys

from anyhook.cli import BLOCKED, DONE, FINDINGS, BadCall, render
from anyhook.model import lean_json
from anyhook.model.event import EVENTS, FIELDS, Event
from anyhook.state.plans import Setup, read_plan
from anyhook.tables.registry import UnknownEvent, canonical_event, canonical_field, native_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from anyhook.cli.options import EventOptions, FireOptions
    from anyhook.model.decision import Decision
    from anyhook.model.json_types import Json

NAMES = {
    "tool": "tool", "call_id": "call_id", "source": "source", "trigger": "trigger", "reason": "reason",
    "agent": "agent_type", "session": "session",
}  # fmt: skip
"""Options that take a name, and the canonical fields they fill."""
TEXTS = {"tool_error": "tool_error", "prompt": "prompt", "message": "message"}
"""The same for texts, which may come from a file or stdin."""


def fire(name: str, options: FireOptions) -> int:
    """Run a checked call and print the decision; returns its exit status."""
    project, env = project_of(options.project, options.plugin_dir), dict(os.environ)
    setup = Setup.of(project, env, options.dialect, options.trust or "ask", options.plugin_dir, options.state_dir)
    plan = read_plan(setup)
    event, unknown = event_of(name, options, plan.natives if plan else None, options.dialect)
    if plan is not None and not unknown and plan.is_quiet(event.name):
        from anyhook.journal.journal import quiet

        decision = quiet(setup, plan, [event], "fire", options.mode, options.session)
    else:
        from anyhook.engine.engine import EngineOptions, open_engine
        from anyhook.engine.routes import catalog_of
        from anyhook.platform.run import EndsHooksWithUs, expect_hooks

        expect_hooks()
        with EndsHooksWithUs():
            own = EngineOptions(
                setup, options.on_failure, options.mode, options.session, "fire", options.model or None, one_shot=True
            )
            # Nothing is deferred here, so the engine need not be closed.
            decision = open_engine(own, catalog_of(plan, setup)).fire_sync(event)
        if unknown:
            decision = _with_unknown(decision, unknown)
    status = BLOCKED if decision.stops else DONE
    try:
        if options.json:
            render.exact_out(lean_json.dumps(decision.as_dict()))
        else:
            render.decision_out(decision)
    except OSError as error:  # a block stays a block, even if the reason could not be written
        render.say(f"anyhook fire: the answer could not be written ({error.strerror})")
        return status or FINDINGS
    return status


def _with_unknown(decision: Decision, unknown: list[str]) -> Decision:
    """The decision, and a warning for each name in --data that no dialect knows."""
    from anyhook.model.problem import WARNING, Problem

    found = [
        Problem(
            "unknown-field",
            f"no dialect knows the field `{key}` of --data; it is ignored",
            "--data",
            fix="See `anyhook fire --help` for the canonical names.",
            severity=WARNING,
        )
        for key in unknown
    ]
    return decision.replace(problems=(*decision.problems, *found))


# -- the options of the call → an Event. This reads the files and the stdin that the options name.


def project_of(project: str | None, plugin_dirs: Sequence[str] = ()) -> str:
    """The project directory. It and the plugins' directories are checked."""
    project = project or "."
    try:
        os.path.abspath(project)
    except OSError:
        raise BadCall("the current directory no longer exists. Change to another one, or use --project.") from None
    if not os.path.isdir(project):
        raise BadCall(f"--project {project}: no such directory. Name the project's folder.")
    for folder in plugin_dirs:
        if not os.path.isdir(folder):
            raise BadCall(f"--plugin-dir {folder}: no such directory. Name the directory of one installed plugin.")
    if not os.access(project, os.R_OK | os.X_OK):
        raise BadCall(f"--project {project}: permission denied. Make the directory readable.")
    return project


def _fields(options: EventOptions) -> dict[str, Json]:
    """The fields that options give by name."""
    data: dict[str, Json] = {}
    for key, field in NAMES.items():
        if (name_given := getattr(options, key)) is not None:
            data[field] = name_given
    for key, field in TEXTS.items():
        if (text_given := getattr(options, key)) is not None:
            data[field] = _text(f"--{key.replace('_', '-')}", text_given)
    if options.input is not None:
        data["input"] = _object("--input", options.input, '{"command": "ls"}')
    if options.output is not None:
        data["output"] = _loose(_text("--output", options.output))
    return data


def _object(flag: str, text: str | None, example: str) -> dict[str, Json]:
    read = _json(flag, text) if text is not None else {}
    if not isinstance(read, dict):
        raise BadCall(f"{flag} must be a JSON object, such as '{example}'.")
    return read


def event_of(
    name: str, options: EventOptions, natives: dict[str, tuple[str, ...]] | None = None, dialects: Sequence[str] = ()
) -> tuple[Event, list[str]]:
    """The event, by a name that one of `dialects` knows, and the names in --data that no dialect knows."""
    if [getattr(options, key) for key in ("data", "input", "output", *TEXTS)].count("-") > 1:
        raise BadCall("`-` stands for stdin, and stdin can be read only once. Use @FILE for the others.")
    given, data = _object("--data", options.data, '{"turn_number": 3}'), _fields(options)
    event = name
    if name not in EVENTS or given:
        natives = native_names(dialects) if natives is None else natives
        try:
            event = canonical_event(name, failed="tool_error" in data, natives=natives)
        except UnknownEvent as error:
            raise BadCall(str(error)) from None
    if "message" in data and event != "notification":  # for other events it is a dialect's own name for another field
        data.setdefault(canonical_field(event, "message") or "message", data.pop("message"))
    unknown = _add_given(event, given, data) if given else []
    if given and data.get("tool_error"):
        event = canonical_event(
            name, failed=True, natives=natives
        )  # --data may give the error under a dialect's own name
    for key in ("agent_id", "agent_type"):  # --agent names both, unless --data knows better
        if key in data:
            data.setdefault("agent_name", data[key])
    return Event(event, data), unknown


def _add_given(event: str, given: dict[str, Json], data: dict[str, Json]) -> list[str]:
    """The fields of --data, by canonical or any dialect's own name; a named option wins over them."""
    unknown: list[str] = []
    for key, value in given.items():
        field = canonical_field(event, key)
        if field is None:
            unknown.append(key)
            continue
        if field not in FIELDS:
            continue  # dialects know the key, but compute its value themselves
        if field == "input" and not isinstance(value, dict):
            raise BadCall(f"--data: `{key}` must be a JSON object.")
        if field in EVENTS[event] and not isinstance(value, str):
            raise BadCall(f"--data: `{key}` must be a text: matchers use it.")
        data.setdefault(field, value)
    return unknown


def _loose(text: str) -> Json:
    """A tool's result: parsed if it is a JSON object or list, otherwise the text."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            return lean_json.loads_any(text)
        except ValueError:
            return text
    return text


def _text(option: str, value: str) -> str:
    """The value of an option; `@FILE` and `-` read it from a file or stdin."""
    if value == "-":
        if sys.stdin is None:
            raise BadCall(f"{option} -: stdin is closed.")
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    if not value.startswith("@"):
        return value
    try:
        with open(value[1:], "rb") as file:
            return file.read().decode("utf-8", "replace")
    except OSError as error:
        raise BadCall(f"{option} {value}: the file cannot be read ({error.strerror}).") from None


def _json(option: str, value: str) -> Json:
    text = _text(option, value)
    try:
        return lean_json.loads_any(text)
    except ValueError as error:
        shown = text if len(text) <= 60 else f"{text[:60]}…"
        raise BadCall(
            f"{option}: this is not valid JSON: {shown!r} ({error}). Quote it for the shell with single quotes."
        ) from None
