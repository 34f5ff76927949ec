"""Kilo CLI: a fork of opencode, whose plug-ins it takes. Measured with 7.7.9."""

from __future__ import annotations

from anyhook.agents._plugins import plugin_text
from anyhook.agents.opencode import HOST as OPENCODE
from anyhook.agents.opencode import MODULE
from anyhook.tables.extend import extend
from anyhook.tables.host_rows import Entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.sample_rows import Sample

VERSION = "7.7.9"

HOST = extend(
    OPENCODE,
    name="kilo",
    title="Kilo CLI",
    entry=Entry(
        "module",
        {"user": "{config}/kilo/plugins/anyhook.js", "project": "{project}/.kilo/plugins/anyhook.js"},
        {"config": ("XDG_CONFIG_HOME", "{home}/.config")},
        module=plugin_text("kilo", MODULE),
        owned=True,
    ),
    program="kilo",
)


def sample() -> Sample:
    from anyhook.agents.opencode import sample as theirs

    return theirs()
