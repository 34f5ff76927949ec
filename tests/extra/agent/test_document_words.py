"""Values are translated as names are: hooks of the five dialects read the words of their documents."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from anyhook.engine.match import match
from anyhook.engine.present import payload
from anyhook.extra.agent.chat.loop import RESUME, USER_EXIT
from anyhook.extra.agent.headless import REASONS, SIGNALS, STATUS
from anyhook.model.event import Event
from anyhook.tables.registry import dialect
from anyhook.tables.rows import Scene
from anyhook.tables.translate import to_native
from each_of import each_of

DOCUMENTED: dict[str, dict[str, set[str]]] = {
    "kode": {"reason": {"user_exit", "sigterm"}},
    "kodik": {"source": {"startup", "resume"}, "trigger": {"manual", "auto"}},
    "agenthooks": {"reason": {"user_exit"}, "stop_reason": {"no_tool_calls", "tool_rejected", "max_steps"}},
    "kolega": {
        "source": {"startup", "resume"},
        "trigger": {"manual", "auto"},
        "stop_reason": {"end_turn", "max_tokens", "stop_sequence"},
        "reason": {"quit", "ask_complete"},
        "permission_mode": {"ask", "auto"},
    },
    "kodelet": {},
}
"""From the documents and, where they only say that there is a word, from the material about the products."""
OPEN = {("agenthooks", "trigger"), ("kolega", "notification_type")}
"""Words that neither lists."""
OURS = {
    "source": ("startup", "resume", "clear"),
    "trigger": ("auto", "manual"),
    "stop_reason": ("no_tool_calls",),
    "reason": (*SIGNALS.values(), *REASONS.values(), *STATUS, USER_EXIT, RESUME, "clear"),
    "permission_mode": ("ask", "auto", "deny"),
    "notification_type": ("permission_prompt",),
}
"""What our own agent says."""


def read_by(name: str, canonical: str, field: str, word: str) -> set[str]:
    """What hooks of a dialect read for one word of a host."""
    table = dialect(name)
    event = to_native(Event(canonical, {field: word}, hosted=True), table)
    row = table.row_for(canonical)
    assert row is not None
    read = payload(table, row, Scene(event, row.native, "/project", "s", {}, {}))
    keys = {each.key for each in (*table.base, *row.payload) if each.cell == field}
    return {str(read[key]) for key in keys}


def carried(name: str) -> set[tuple[str, str]]:
    """Every event and field of a dialect that holds one of these words."""
    table = dialect(name)
    return {
        (canonical, str(each.cell))
        for row in table.events
        for canonical in row.canonical
        for each in (*table.base, *row.payload)
        if each.cell in OURS
    }


@each_of("name", DOCUMENTED)
def test_every_word_of_ours_is_the_documents(name: str) -> None:
    for canonical, field in carried(name):
        for word in OURS[field]:
            said = read_by(name, canonical, field, word)
            assert (name, field) in OPEN or said <= DOCUMENTED[name][field], (canonical, field, word)


@each_of("name", DOCUMENTED)
def test_every_field_with_words_is_in_the_table(name: str) -> None:
    known = {field for _, field in carried(name)}
    assert known == set(DOCUMENTED[name]) | {field for table, field in OPEN if table == name}
    assert set(dialect(name).words) <= known


@given(word=st.text(min_size=1, max_size=20))
def test_any_word_of_any_host_is_the_documents(word: str) -> None:
    for name, fields in DOCUMENTED.items():
        for canonical, field in carried(name):
            if field in fields:
                assert read_by(name, canonical, field, word) <= fields[field], (name, canonical, field)


def test_the_documents_own_words_stay() -> None:
    for name, fields in DOCUMENTED.items():
        for canonical, field in carried(name):
            for word in fields.get(field, ()):
                assert read_by(name, canonical, field, word) == {word}


def test_nobody_translates_for_fire() -> None:
    """The command gives hooks what it is given."""
    event = Event("session_start", {"source": "clear"})
    for name in DOCUMENTED:
        assert to_native(event, dialect(name)) == event


def test_a_matcher_may_name_either_word() -> None:
    from anyhook.model.hook import Hook

    for name in ("kodik", "kolega"):
        table = dialect(name)
        row = table.row("SessionStart")
        assert row is not None
        event = Event("session_start", {"source": "clear"}, hosted=True)
        native = to_native(event, table)
        for matcher, matches in (("startup", True), ("startup|resume", True), ("clear", True), ("resume", False)):
            hook = Hook("x:user:E:h", "h", name, "user", "/f", (), "/", "", "", (), matcher, "command", {}, 1.0)
            assert (match(hook, table, row, native, event)[0] is None) is matches, (name, matcher)
