"""The modules on the path that an agent waits for, by package. They import nothing heavy at the top, and import types
only for type checkers. This is the only such list. Every other module imports normally."""

from __future__ import annotations

HOT_MODULES = {
    "": "__init__ entry handlers",
    "agents": """
        _claude_family _patches _results agenthooks anyhook claude claude.dialect claude.files claude.host
        cline codex codex.dialect codex.replies copilot copilot.dialect copilot.host gemini gemini.dialect
        goose goose.dialect kimi kode kodelet kodik kolega kolega.dialect opencode qwen qwen.dialect vibe
    """,
    "cli": "bridge fire options render",
    "documents": "managed parse places",
    "facts": """
        by_table calls clients code collect escapes facts git options output_options programs python_code special
    """,
    "guard": "calls guard own_programs protected settings_change",
    "handlers": "background callable_host function http python",
    "hooks": "call decide when worker",
    "journal": """
        files journal record recording redact secret_commands secret_named secret_names secret_objects
        secret_shapes suspect writer
    """,
    "model": "call decision deep_json event firing hook json_types lean_json outcome problem record texts words",
    "process": "answer_once async_wait beside child run spawn start_failure tree watcher zygote zygote_run",
    "replay": "warm_worker",
    "rules": "evaluate language marks paths programs rule_file templates",
    "shell": "commands expand grammar made_files named outputs read scope simple spelling statements wrappers",
    "state": "hook_settings kept_status managed plans settings",
    "tables": """
        cells extend folders found_agents host_rows hosted inprocess isolation modules patterns
        permission_rules readers registry rows shapes translate
    """,
    "walk": """
        bridge bridge_failure callables caller combine context dedupe engine express final_form interpret left_to_host
        long_context merge near_miss never_ran not_run off_gates own_modes present receive routes rules same_hook
        sessions settle tell together walk
    """,
    "warm": "hot_pages launched notes place quiet rehearsal server start worker",
}
"""Package → its modules."""
HOT = frozenset(
    f"anyhook.{room}.{name}".replace("..", ".") for room, names in HOT_MODULES.items() for name in names.split()
)
