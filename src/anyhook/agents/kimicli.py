"""Kimi CLI, which Kimi Code replaced: the same tables in its own config, and no context for a prompt. Measured with
1.51.0; later versions only say that they have been replaced. Kimi's dialect reads its hooks."""

from __future__ import annotations

from anyhook.agents.kimi import HOST as KIMI
from anyhook.tables.extend import extend
from anyhook.tables.host_rows import ProductChange, until

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.vocabulary import Entry, Sample

VERSION = "1.51.0"


def _entry() -> Entry | None:
    entry = KIMI.entry
    return None if entry is None else entry.replace(files={"user": "{home}/.kimi/config.toml"}, roots={})


HOST = extend(
    KIMI,
    name="kimicli",
    title="Kimi CLI",
    entry=_entry(),
    own_files=("cli",),
    events={
        "UserPromptSubmit": {"says": {"context": None}},
        "PermissionRequest": None,
        "SessionEnd": {"why_not": ""},
    },
    gaps=(*KIMI.gaps, "context for a prompt"),
)


CHANGES = (
    until("1.28", "has no hooks", "CHANGELOG.md of Kimi CLI, 1.28.0", "2026-03-30"),
    ProductChange("1.52", "only says that Kimi Code has replaced it", "PyPI kimi-cli 1.52.0, run", "2026-11"),
)


def sample() -> Sample:
    from anyhook.agents.kimi import sample as kimis

    usual = kimis()
    return type(usual)(calls=usual.calls, payload=usual.payload, stdout=usual.stdout)
