"""Claude Code, by Anthropic. Several other agents copy its hooks (`_claude_family`)."""

from __future__ import annotations

from anyhook.tables.host_rows import until

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.vocabulary import Drive, Sample

VERSION = "2.1.325"
OWN_FOLDERS = (
    "{config}/plans/**", "{config}/todos/**", "{config}/tasks/**", "{config}/projects/*/memory/**",
    "{config}/projects/*/*/scratchpad/**", "{config}/agent-memory/**",
)  # fmt: skip
"""Where it keeps plans, tasks, memory and scratch files (2.1.325, 2026-11)."""
WORKING_FOLDERS = (("{config}/settings.json", "json", ("permissions", "additionalDirectories")),)
"""The setting with folders that it works in besides (code.claude.com/docs/en/settings, 2026-11)."""
OFFERED = {
    "subagent": ("{project}/.claude/agents", "{home}/.claude/agents"),
    "skill": ("{project}/.claude/skills", "{home}/.claude/skills"),
}


CHANGES = (
    until(
        "1.0.59",
        "does not read the refusals of our entry: it has hooks since 1.0.38, and their decisions since 1.0.59",
        "CHANGELOG.md of Claude Code",
        "2025-07",
    ),
)


def drive() -> Drive:
    from anyhook.tables.drive_rows import ASKING, FULL, KEY, Drive

    tools = ("--allowedTools", "Bash", "Write", "Read", "Agent")
    usual = Drive(
        ("-p", "{prompt}", "--output-format", "json", *tools),
        {
            "ANTHROPIC_BASE_URL": "{url}",
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
        },
        # The user's own file of this name holds credentials as well as trust, so it is not copied; a run without a
        # person does not ask for trust.
        writes={
            "{home}/.claude.json": {
                "hasCompletedOnboarding": True,
                "projects": {"{project}": {"hasTrustDialogAccepted": True}},
            }
        },
        carries=("{project}/.claude/settings.local.json",),
        helper="general-purpose",
        cannot_show={"notification": "it sends notifications only at a terminal"},
    )
    return usual.replace(
        scenarios={
            ASKING: usual.without_words(*tools),
            FULL: usual.with_env(CLAUDE_CODE_AUTO_COMPACT_WINDOW="100000"),
        }
    )


def sample() -> Sample:
    from anyhook.tables.sample_rows import guarded

    return guarded(".claude/settings.json", "Bash")
