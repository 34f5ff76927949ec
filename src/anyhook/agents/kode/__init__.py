"""Kode: hooks in a YAML config, which both the product and we read. It is not public, so it was never run here;
everything comes from its documents."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.sample_rows import Sample

VERSION = "1.3.7"


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, GUARD, REASON, Sample

    return Sample(
        event="tool_call_pre",
        files={
            ".kode/config.yaml": "hooks:\n  tool_call_pre:\n    - exec: .kode/hooks/guard\n",
            ".kode/hooks/guard": GUARD,
        },
        script=f"echo '{REASON}' >&2; exit 1",
        tool="shell",
        calls="tool_call_pre",
        payload={
            "event": "tool_call_pre", "session_id": "s", "tool": "shell", "input": {"command": COMMAND},
            "auto_approve": False,
        },
        stderr=REASON,
        status=2,
    )  # fmt: skip
