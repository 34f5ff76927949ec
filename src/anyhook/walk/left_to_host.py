"""Left to the host: which hooks the calling agent runs itself, so that we do not run them again."""

from __future__ import annotations

from anyhook.model.outcome import STOPPING
from anyhook.tables.registry import dialect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.hook import Hook
    from anyhook.tables.host_rows import Host


def runs_itself(host: Host, hook: Hook) -> bool:
    """Whether the agent runs this hook itself, as its author intends. From another agent's files it runs the hooks
    whose event it has. It reads the files of the folder that it was started in; we run the hooks of the folders
    above."""
    if hook.project or hook.scope not in host.reads.get(hook.dialect, ()):
        return False
    if hook.dialect == host.name:
        return True
    asked = {event for row in host.events for event in row.canonical}
    if asked.isdisjoint(hook.events):
        return False
    return hook.dialect not in host.misreads or not is_gate(hook)


def is_gate(hook: Hook) -> bool:
    """Whether a block by this hook prevents something. A hook whose event is unknown may be a gate."""
    if hook.scope == "builtin" or hook.background:
        return False
    table = dialect(hook.dialect)
    row = table.row(hook.native_event)
    if row is None:
        return not hook.native_event and any(each.block in STOPPING for each in table.events)
    return row.block in STOPPING
