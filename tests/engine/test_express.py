"""Express, as a table: settled effects become the bytes that a host reads, and nothing that its table does not
define."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyhook.engine.express import express
from anyhook.model.json_types import Json
from anyhook.tables.host_rows import Say
from each_of import each_of

if TYPE_CHECKING:
    from anyhook.model.words import HostEffect

BY_STATUS: dict[HostEffect, Say] = {"block": Say(stderr="{reason}", status=2)}
BY_JSON: dict[HostEffect, Say] = {
    "block": Say(json={"decision": "block", "reason": "{reason}"}),
    "context": Say(json={"out": {"event": "E", "context": "{context}"}}),
    "input": Say(json={"out": {"event": "E", "input": "{input}"}}),
    "message": Say(json={"systemMessage": "{message}"}),
}
BY_TEXT: dict[HostEffect, Say] = {"context": Say(text="{context}"), "message": Say(text="note: {message}")}
TABLE: list[tuple[dict[HostEffect, Json], dict[HostEffect, Say], tuple[str, str, int], str]] = [
    ({}, BY_JSON, ("", "", 0), "no opinion is no output and status 0"),
    ({"block": "no"}, BY_STATUS, ("", "no", 2), "a status and a reason on stderr"),
    ({"block": "no"}, BY_JSON, ('{"decision": "block", "reason": "no"}', "", 0), "an object on stdout"),
    ({"context": "c", "input": {"a": 1}}, BY_JSON,
     ('{"out": {"event": "E", "input": {"a": 1}, "context": "c"}}', "", 0),
     "what shares an object is laid into it, in the fixed order of effects"),
    ({"message": "m", "block": "no"}, BY_JSON, ('{"decision": "block", "reason": "no", "systemMessage": "m"}', "", 0),
     "the order of effects, whatever order they came in"),
    ({"block": 'say "no"\n{reason} é'}, BY_JSON,
     ('{"decision": "block", "reason": "say \\"no\\"\\n{reason} é"}', "", 0), "a value is data and never a template"),
    ({"context": "c", "message": "m"}, BY_TEXT, ("c\n\nnote: m", "", 0), "plain texts, a line between them"),
]  # fmt: skip


@each_of(("effects", "says", "answer", "why"), TABLE, ids=[row[3] for row in TABLE])
def test_the_answer(
    effects: dict[HostEffect, Json], says: dict[HostEffect, Say], answer: tuple[str, str, int], why: str
) -> None:
    made = express(effects, says)
    assert (made.stdout, made.stderr, made.status) == answer, why
