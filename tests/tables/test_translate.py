"""Translation between a host's names and a dialect's: every table round-trips, and events that need no translation are
unchanged."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from anyhook.model.event import Event
from anyhook.model.outcome import Outcome
from anyhook.tables.registry import DIALECTS, dialect
from anyhook.tables.translate import to_host, to_native
from each_of import each_of

HOST = {
    "shell": ("command", "timeout_seconds"),
    "read_file": ("path", "offset", "limit"),
    "write_file": ("path", "content"),
    "edit_file": ("path", "old_text", "new_text"),
    "list_files": ("path", "glob"),
    "grep": ("pattern", "path", "glob", "ignore_case", "literal", "context"),
    "delegate_task": ("agent_name", "task"),
    "web_fetch": ("url",),
    "web_search": ("query",),
}
INPUTS = st.sampled_from(sorted(HOST)).flatmap(
    lambda tool: st.tuples(st.just(tool), st.dictionaries(st.sampled_from(HOST[tool]), st.text(min_size=1)))
)


def event(tool: str, given: dict[str, str], hosted: bool = True) -> Event:
    return Event.pre_tool(tool, dict(given)).replace(hosted=hosted)


@given(call=INPUTS)
def test_there_and_back(call: tuple[str, dict[str, str]]) -> None:
    tool, fields = call
    for name in DIALECTS:
        table = dialect(name)
        seen = to_native(event(tool, fields), table)
        rewritten = Outcome(tool_input=seen.get("input"))  # type: ignore[arg-type]
        assert to_host(rewritten, event(tool, fields), table).tool_input == fields, name


@given(call=INPUTS)
def test_what_is_taken_as_it_is(call: tuple[str, dict[str, str]]) -> None:
    fired = event(*call, hosted=False)
    outcome = Outcome(tool_input={"path": "a", "file_path": "b"}, tool_output={"toolName": "x"})
    for name in DIALECTS:
        assert to_native(fired, dialect(name)) is fired, name
        assert to_host(outcome, fired, dialect(name)) is outcome, name


@each_of("name", DIALECTS)
def test_tools_that_nobody_knows(name: str) -> None:
    known = event("weather", {"path": "x"})
    assert to_native(known, dialect(name)) == known


@each_of("name", DIALECTS)
def test_a_table_names_no_field_twice(name: str) -> None:
    for tool, row in dialect(name).tools.items():
        assert tool in HOST
        natives = [row.inputs.get(field, field) for field in HOST[tool]]
        assert len(set(natives)) == len(natives)
        assert set(row.inputs) <= set(HOST[tool])


def test_a_hook_may_answer_in_the_hosts_words() -> None:
    answer = Outcome(tool_input={"path": "b.txt", "content": "x"})
    made = to_host(answer, event("write_file", {"path": "a.txt"}), dialect("kodik"))
    assert made.tool_input == {"path": "b.txt", "content": "x"}


SAID: dict[str, dict[str, tuple[str, dict[str, str] | None]]] = {
    "kode": {"shell": ("shell", {"command": "ls"})},
    "kodik": {"shell": ("Bash", {"command": "ls"}), "edit_file": ("Edit", None), "write_file": ("Write", None)},
    "agenthooks": {"shell": ("Shell", {"command": "ls"}), "write_file": ("WriteFile", None)},
    "kolega": {"shell": ("execute_terminal_command", {"command": "ls"})},
    "kodelet": {"shell": ("bash", {"command": "ls"})},
}
"""The names in the five documents themselves."""


@each_of("name", SAID)
def test_what_the_documents_name(name: str) -> None:
    for tool, (native, fields) in SAID[name].items():
        seen = to_native(event(tool, {"command": "ls"}), dialect(name))
        assert seen.get("tool") == native
        assert fields is None or seen.get("input") == fields
