"""What an agent is told if anyhook cannot run, in its own format. A closed entry contains its refusals; for every entry
of a user, `install` writes down all answers, and the native launcher reads them if Python does not start
(`native/python.c`): a table of texts that end with a NUL and begin with a letter for their kind."""

from __future__ import annotations

from collections.abc import Mapping

from anyhook.engine.express import completed, express
from anyhook.install.lean import is_gate
from anyhook.model.firing import NO_OPINION, Answer
from anyhook.platform.places import config_file
from anyhook.tables.host_rows import OPENINGS, Host, HostEvent

CLOSING = frozenset({"user_prompt_submit", "pre_tool", "permission_request"})
"""Events that are refused without us. On other events a refusal would keep the agent working, or be lost."""
ALL_OFF = (
    "anyhook: all guards are OFF: anyhook could not run, and no hook was asked. Run `anyhook status`; if that does not"
    " work either, install anyhook again."
)


def words_path(state_dir: str, agent: str) -> str:
    return f"{state_dir}/entries/{agent}"


def refusals(table: Host, *, closed: bool = True) -> dict[str, Answer]:
    """The answer for each of an agent's gates if we cannot be run, in its own format."""
    why = f" and its entry in {table.title} is closed, so" if closed else " so"
    reason = (
        f"anyhook cannot be run,{why} nothing that hooks guard may happen. "
        "Start the agent again, install anyhook again, or remove its entry from this config."
    )
    gates = [
        row for row in table.events if row.installed and CLOSING.intersection(row.canonical) and "block" in row.says
    ]
    return {row.native: express({"block": reason}, row.says) for row in gates}


def last_words(table: Host, env: Mapping[str, str], *, closed: bool) -> bytes:
    """The table for one agent's entry."""
    refused = refusals(table, closed=closed)
    texts = [f"C{config_file(env)}", *(["K"] if closed else []), *(["T"] if not table.shows_stderr else [])]
    for row in table.events:
        if not row.installed:
            continue
        told = _told(row)
        texts.append(f"E{row.native}")
        for kinds, given in (("ofr", told), ("OFR", refused.get(row.native, told))):
            answer = completed(given, row.silence) if row.silence is not None else given
            texts += [f"{kinds[0]}{answer.stdout}", f"{kinds[1]}{answer.stderr}", f"{kinds[2]}{answer.status}"]
    return b"".join([text.encode() + b"\0" for text in texts])


def _told(row: HostEvent) -> Answer:
    """The answer that lets the event pass and tells the person, where a guard would have been asked and where a session
    begins."""
    if not is_gate(row) and not set(OPENINGS).intersection(row.canonical):
        return NO_OPINION
    if "message" in row.says:
        return express({"message": ALL_OFF}, row.says)
    if "context" in row.says:
        return express({"context": f"Tell the user: {ALL_OFF}"}, row.says)
    return NO_OPINION.replace(stderr=ALL_OFF)
