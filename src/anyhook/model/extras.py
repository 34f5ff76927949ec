"""Extras: parts of anyhook that are installed by need, and how a person gets one."""

from __future__ import annotations


def install_command(extra: str) -> str:
    """How to install an extra, whichever tool anyhook was installed with."""
    name = f"'anyhook[{extra}]'"
    return f"pip install {name} (or: pipx install --force {name}, uv tool install {name})"
