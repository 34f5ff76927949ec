"""The modules on the path that an agent waits for, by package. They import nothing heavy at the top, and import types
only for type checkers. This is the only such list. Every other module imports normally."""

from __future__ import annotations

HOT_MODULES = {
    "": "__init__ entry ",
    "agents": """
        _claude_family _claude_replies _family _mcp_servers _patches _results agenthooks amp antigravity anyhook augment
        claude claude.dialect claude.files claude.host claude.other_events claude.permission_rules
        claude.servers cline codebuddy codepuppy codex copilot crush cursor deepagents devin droid gemini
        goose grok hermes junie kilo kimi kimicli kiro kode kodelet kodik kolega letta mastra muse openclaw
        opencode openhands pi qwen reasonix vibe vscode
    """,
    "cli": "bridge fire options render",
    "documents": "managed parse",
    "engine": """
        bridge bridge_failure cases context dedupe disobeyed engine express interpret long_context merge near_miss
        present receive routes rules settle unknown_tool walk
    """,
    "extra": """
        warm.launched warm.place warm.start warm.zygote warm.zygote_run
    """,
    "gates": "off_gates tell",
    "guard": "calls guard own_programs protected same_file scripts settings_change",
    "handlers": "__init__ callable_host function python",
    "hooks": "call decide when worker",
    "journal": "files journal record secret_names suspect writer",
    "model": """
        call decision deep_json event firing hook json_types lean_json outcome pattern problem record texts words
    """,
    "platform": "answer_once beside child kept_code places run spawn store tree",
    "programs": """
        collect commands continuations effects expand facts found git grammar hiding links named options outputs
        project_files quick rows scope scripts special statements table trees wrappers
    """,
    "rules": "calls evaluate marks paths programs templates",
    "state": "entry_places hook_settings kept_status plans refused settings start_variables turns",
    "tables": """
        cells extend folders host_rows hosted inprocess isolation patterns readers registry rows shapes
        translate
    """,
}
"""Package → its modules."""
HOT = frozenset(
    f"anyhook.{room}.{name}".replace("..", ".") for room, names in HOT_MODULES.items() for name in names.split()
)
