"""Kolega Code: `hooks.json` in a state directory and in a project, which both the product and we read."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.sample_rows import Sample
    from anyhook.tables.version_rows import ProductChange

VERSION = "0.45.1"


def changes() -> tuple[ProductChange, ...]:
    from anyhook.tables.version_rows import ProductChange

    return (
        ProductChange(
            "", "has no hooks before a tool", "wheels of kolega-code 0.3.2 and 0.4.0", "2026-11-19", before="0.4"
        ),
    )


def drive() -> Drive:
    from anyhook.tables.drive_rows import ASKING, KEY, Drive

    model = (
        "--endpoint-url",
        "{url}",
        "--endpoint-style",
        "anthropic",
        "--endpoint-api-key",
        KEY,
        "--model",
        "{model}",
    )
    usual = Drive(
        ("ask", "--permission-mode", "auto", "--lsp", "off", "--web-search", "off", *model, "{prompt}"),
        {"KOLEGA_CODE_NO_DIAGNOSTICS": "1"},
        in_folder=lambda drive: drive.with_words("--trust-hooks"),
        helper="general",
        cannot_show={"pre_tool allow": "it asks before it calls its hooks"},
    )
    asking = usual.replace(words=tuple("ask" if word == "auto" else word for word in usual.words))
    return usual.replace(scenarios={ASKING: asking})


def sample() -> Sample:
    from anyhook.tables.sample_rows import called, grouped, guarded

    tool = "execute_terminal_command"
    entry = {"schema_version": 1, **grouped("PreToolUse", tool, ".kolega/hooks/guard")}
    return guarded(".kolega/hooks.json", tool, {"session_id": "s", **called("exec_command")}, entry=entry)
