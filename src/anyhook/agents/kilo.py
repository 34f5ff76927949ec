"""Kilo CLI: a fork of opencode, whose plugins it accepts. Measured with 7.7.9."""

from __future__ import annotations

from anyhook.agents._plugins import plugin_text
from anyhook.agents.opencode import HOST as OPENCODE
from anyhook.agents.opencode import MODULE
from anyhook.agents.opencode import drive as usual_drive
from anyhook.agents.opencode import sample as usual_sample
from anyhook.tables.extend import extend
from anyhook.tables.host_rows import Entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.vocabulary import Drive, Sample

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
    off_variables=("KILO_PURE",),
)


FOLDERS = (
    "{config}/kilo",
    "{project}/.kilo",
    "{project}/.kilocode",
    "{project}/.opencode",
    "{home}/.kilo",
    "{home}/.kilocode",
)


def drive() -> Drive:
    """As opencode is driven, with Kilo's names."""

    def renamed(row: Drive) -> Drive:
        env = {name.replace("OPENCODE", "KILO"): value for name, value in row.env.items()}
        return row.replace(env={**env, "KILO_TELEMETRY_LEVEL": "off"}, scenarios={})

    usual = usual_drive("@kilocode/plugin", FOLDERS)
    return renamed(usual).replace(scenarios={name: renamed(row) for name, row in usual.scenarios.items()})


def sample() -> Sample:
    return usual_sample()
