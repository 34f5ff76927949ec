"""Extras: optional parts of anyhook, and how to install one."""

from __future__ import annotations


def install_command(extra: str) -> str:
    """The command that installs an extra, for each tool that may have installed anyhook."""
    name = f"'anyhook[{extra}]'"
    return f"pip install {name} (or: pipx install --force {name}, uv tool install {name})"
