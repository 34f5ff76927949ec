"""The keys of a case file, as one table for the reader and the docs."""

from __future__ import annotations

from collections.abc import Mapping

from anyhook.extra.testing.kit.form import CaseKey
from anyhook.model.json_types import Json
from anyhook.model.outcome import STRENGTH
from anyhook.model.words import MODE, ON_FAILURE

FIELDS = ("tool", "input", "output", "tool_error", "prompt", "message", "source", "trigger", "reason", "agent_type",
          "call_id", "session")  # fmt: skip
"""Canonical fields with their own key; `data` takes all others."""
OBJECTS = ("input",)
LOOSE = ("output",)


def _field(name: str) -> CaseKey:
    kind = "object" if name in OBJECTS else "anything" if name in LOOSE else "text"
    return CaseKey(name, kind, f"The event's `{name}`.")


EVENT_KEYS = (
    CaseKey("event", "text", "The event, by its canonical name or any dialect's; with `agent`, by the agent's own."),
    *(_field(name) for name in FIELDS),
    CaseKey("data", "object", "Further fields of the event, by canonical or any dialect's own names."),
    CaseKey("hosted", "flag", "Whether tools have our agent's names, to be translated for each dialect."),
    CaseKey("agent", "text", "Fire through the bridge of this agent, as `anyhook bridge AGENT EVENT` would be called."),
    CaseKey("payload", "object", "What the agent sends, if the fields above are not enough; needs `agent`."),
    CaseKey("stdin", "text", "The same as raw text, right or wrong; needs `agent`."),
)
PLACE_KEYS = (
    CaseKey("env", "variables", "Variables besides PATH, HOME, LANG and the folders below HOME."),
    CaseKey("files", "files", "Files that the project has besides its own, or instead of them."),
    CaseKey("home", "files", "Files in the home folder, which is otherwise empty: the user's hooks."),
    CaseKey("bring", "list of texts", "Folders of the project to copy that are otherwise left out."),
    CaseKey("setup", "text", "A shell command, run in the project before the event; it must succeed."),
)
SWITCH_KEYS = (
    CaseKey("dialect", "texts", "Only the hooks of these dialects."),
    CaseKey("on_failure", "text", "What a broken hook means.", ON_FAILURE),
    CaseKey("mode", "text", "`shadow` runs everything and enforces nothing.", MODE),
    CaseKey("plugin_dirs", "list of texts", "Installed plugins, by folders of the project."),
    CaseKey("limit_s", "number", "How many seconds the whole case may take; default: 60."),
    CaseKey("skip", "text", "Why this case is not run."),
)
EXPECT_KEYS = (
    CaseKey("verdict", "compared", f"What all hooks together say: {', '.join(STRENGTH)}."),
    CaseKey("effect", "compared", "What a block does here, such as `deny_tool`."),
    CaseKey("reason", "compared", "Why it was blocked."),
    CaseKey("hook", "compared", "The id of the hook that blocked."),
    CaseKey("tool_input", "compared", "The rewritten input; null if there must be none."),
    CaseKey("tool_output", "compared", "The replaced output."),
    CaseKey("prompt", "compared", "The replaced prompt."),
    CaseKey("context", "compared", "Context for the model: a list, or a text that one of its entries contains."),
    CaseKey("messages", "compared", "Messages for the user, in the same way."),
    CaseKey("follow_ups", "compared", "Messages that make the agent go on, in the same way."),
    CaseKey("history", "compared", "The conversation that replaces the current one."),
    CaseKey("recipe", "compared", "The recipe to run."),
    CaseKey("end_turn", "compared", "Whether the turn ends."),
    CaseKey("enforced", "compared", "Whether the decision counts; false in shadow mode."),
    CaseKey("exit", "compared", "The exit status of `anyhook fire`, or of the bridge."),
    CaseKey("stdout", "compared", "What the bridge answers; needs `agent`."),
    CaseKey("stderr", "compared", "What it prints on stderr; needs `agent`."),
    CaseKey("json", "compared", "Its answer, read as JSON; needs `agent`."),
    CaseKey("ran", "list of texts", "Hooks that ran, by id, name or part of the id."),
    CaseKey("not_ran", "list of texts", "Hooks that exist but did not run."),
    CaseKey("failed", "list of texts", "Hooks that broke. Any other that breaks fails the case."),
    CaseKey(
        "hooks", "all compared", "By id, name or part of the id: what the hook's record in `fire --json` contains."
    ),
    CaseKey("problems", "list of texts", "The codes of all problems; [] for no problems."),
    CaseKey(
        "files", "all compared", "By path: what a file in the project holds afterwards; null if it must not exist."
    ),
)
DECISION_FIELDS = tuple(key.name for key in EXPECT_KEYS[:14])
LISTED = ("context", "messages", "follow_ups")
ANSWER = ("stdout", "stderr", "json")
MERGED = ("data", "env", "files", "home", "expect")
"""Keys whose mappings in `defaults` are added to, not replaced."""


def by_key(fields: Mapping[str, Json]) -> dict[str, Json]:
    """The fields of an event as a case has them: those without a key of their own are together in `data`."""
    rest: dict[str, Json] = {name: value for name, value in fields.items() if name not in FIELDS}
    own = {name: fields[name] for name in FIELDS if name in fields}
    return {**own, "data": rest} if rest else own


NAME = CaseKey("name", "text", "What the case shows; `{column}` is replaced by a value of the table.")
TABLE = CaseKey("table", "rows", "One case for each row; `{column}` in any text of the case is replaced by its value.")
EXPECT = CaseKey("expect", "object", "The expected result.")
COMMON_KEYS = (*EVENT_KEYS, *PLACE_KEYS, *SWITCH_KEYS, EXPECT)
CASE_KEYS = (NAME, *COMMON_KEYS, TABLE)
FILE_KEYS = (
    CaseKey(
        "project", "text", "The project's folder, relative to this file; default: the nearest one above with hooks."
    ),
    CaseKey("defaults", "object", "Default values for every case."),
    CaseKey("cases", "rows", "The cases."),
)
