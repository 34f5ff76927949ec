"""Plain values → readable YAML that our reader reads back unchanged."""

from __future__ import annotations

import re

import yaml

from anyhook.model.json_types import Json

PLAIN = re.compile(r"[./]*[A-Za-z_][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./-]+)*")
WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
"""Words that some YAML readers do not read as a string."""


class _Writer(yaml.SafeDumper):
    def ignore_aliases(self, data: object) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _text(writer: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    plain = PLAIN.fullmatch(value) and value.lower() not in WORDS
    block = "\n" in value and value.isascii() and value.replace("\n", "").isprintable()
    style = None if plain else "|" if block else '"'
    return writer.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Writer.add_representer(str, _text)


def to_yaml(value: Json, *, width: int = 110) -> str:
    """Texts longer than `width` are written over several lines."""
    made: str = yaml.dump(value, Dumper=_Writer, sort_keys=False, allow_unicode=True, width=width)
    return made
