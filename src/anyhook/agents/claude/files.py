"""Where Claude Code's hooks are declared: settings files, plugins, and the front matter of sub-agents and skills. Finds
and reads them; when they run is decided elsewhere."""

from __future__ import annotations

from anyhook.documents.parse import split_front_matter
from anyhook.documents.read import Unreadable
from anyhook.tables.vocabulary import *

AGENTS, SKILLS, COMMANDS = "agents", "skills", "commands"
PARTS = {AGENTS: "{}", SKILLS: "{}/SKILL.md", COMMANDS: "{}"}
"""Folders whose files may have hooks in their front matter, and which of their files."""
SEEN = {
    SKILLS: "they run only in our own agent, because no other agent says which skills it has loaded",
    COMMANDS: "they are not run here",
}
INSTALLED = "plugins/installed_plugins.json"


def config_dir(roots: Roots) -> str:
    """Where the product keeps the user's settings."""
    return roots.env.get("CLAUDE_CONFIG_DIR") or f"{roots.home}/.claude"


def find(roots: Roots) -> list[Source]:
    user, folder = config_dir(roots), f"{roots.project}/.claude"
    found = [
        Source("claude", "user", f"{user}/settings.json", user),
        Source("claude", "project", f"{folder}/settings.json", roots.project),
        Source("claude", "project", f"{folder}/settings.local.json", roots.project, "local"),
    ]
    for part in PARTS:
        found.append(Source("claude", "user", f"{user}/{part}", user, part))
        found.append(Source("claude", "project", f"{folder}/{part}", roots.project, part))
    found.append(Source("claude", "plugin", f"{user}/{INSTALLED}", user))
    found.extend(Source("claude", "plugin", f"{root}/hooks/hooks.json", root) for root in roots.plugin_dirs)
    return found


def load(source: Source, files: Files, shape: EntryShape) -> Layer:
    if source.label in PARTS:
        return Layer(source, tuple(_of_parts(source, files, shape)))
    if source.scope == "plugin" and source.path.endswith(f"/{INSTALLED}"):
        return Layer(source, tuple(_of_installed(source, files, shape)))
    if source.scope == "plugin":
        return Layer(source, tuple(_of_plugin(source, files, shape)))
    document = files.document(source.path, "json")
    if document is None:
        return Layer(source, ())
    off = switched(document, ("disableAllHooks",), source, files, off=True)
    hooks = _entries(document, source, files, shape)
    env = document.get("env") if isinstance(document, dict) else None
    if isinstance(env, dict) and env:
        hooks = [_with_env(hook, env) for hook in hooks]
    return Layer(source, tuple(hooks), all_off=off)


def _with_env(hook: Hook, env: dict[str, Json]) -> Hook:
    """A hook of a file that sets variables. An approval pins them too, because a variable can change what a script
    does. (The product sets them for the whole session; here only the hooks of the same file get them.)"""
    return hook.replace(spec={**hook.spec, "env": env}, definition=f"{hook.definition} {canonical(env)}")


def _entries(document: Json, source: Source, files: Files, shape: EntryShape) -> list[Hook]:
    return Entries(source, files, shape).grouped(document)


# -- plugins


def _of_plugin(source: Source, files: Files, shape: EntryShape) -> list[Hook]:
    ours = plugin(source, ".claude-plugin/plugin.json", files)
    document = files.document(source.path, "json") if ours else None
    if ours is None or document is None:
        return []
    modules = document.get("modules") if isinstance(document, dict) else None
    if isinstance(modules, list) and modules:
        files.problem(
            "agent-mod",
            f"the plugin {ours.label} has {len(modules)} module(s) that run inside Claude Code",
            source.path,
            "they run before every hook that is not managed, and can change a call, or allow one that a hook refused",
            severity="warning",
        )
    return _entries(document, ours, files, shape)


def _of_installed(source: Source, files: Files, shape: EntryShape) -> list[Hook]:
    """The plugins that the user installed and did not turn off."""
    document = files.document(source.path, "json")
    plugins = document.get("plugins") if isinstance(document, dict) else None
    if not isinstance(plugins, dict):
        return []
    settings = files.document(f"{source.root}/settings.json", "json")
    enabled = settings.get("enabledPlugins") if isinstance(settings, dict) else None
    found: list[Hook] = []
    for name, places in plugins.items():
        if not isinstance(enabled, dict) or enabled.get(name) is not True or not isinstance(places, list):
            continue
        for place in places:
            root = place.get("installPath") if isinstance(place, dict) and place.get("scope") == "user" else None
            if isinstance(root, str):
                each = source.replace(path=f"{root}/hooks/hooks.json", root=root)
                with one_file(files, each):
                    found.extend(_of_plugin(each, files, shape))
    return found


# -- front matter


def _of_parts(source: Source, files: Files, shape: EntryShape) -> list[Hook]:
    found: list[Hook] = []
    for name in files.names(source.path):
        path = f"{source.path}/{PARTS[source.label].format(name)}"
        with one_file(files, source, path):
            found.extend(_of_part(source, name, path, files, shape))
    return found


def _of_part(source: Source, name: str, path: str, files: Files, shape: EntryShape) -> list[Hook]:
    text = files.text(path) if path.endswith(".md") and files.is_file(path) else None
    document = _front_with_hooks(path, text, files) if text else None
    if document is None:
        return []
    if source.label != AGENTS:
        files.problem(
            "unsupported-event",
            f"hooks of one of the {source.label} run only once it is loaded; {SEEN[source.label]}",
            path,
            fix="Declare them in the settings if they must always run.",
            severity="warning",
        )
    if source.label == COMMANDS:
        return []
    who = str(document.get("name") or name.removesuffix(".md"))
    given: Json = {"hooks": document["hooks"]}
    hooks = _entries(given, source.replace(path=path), files, shape)
    return [_of_agent(hook, who) if source.label == AGENTS else _of_skill(hook, who) for hook in hooks]


def _front_with_hooks(path: str, text: str, files: Files) -> dict[str, Json] | None:
    """A file's front matter, if it has hooks. Errors in other front matter are left to the product."""
    try:
        front = split_front_matter(text)
    except Unreadable:
        return None
    if front is None or not _may_have_hooks(front[0]):
        return None
    document = files.parse(path, front[0], "yaml", front[1])
    if not isinstance(document, dict):
        return None
    if "hooks" in document:
        return document
    if "\nhooks:" in f"\n{front[0]}":
        files.problem(
            "unknown-key",
            "`hooks:` is part of another key here, so none of these hooks runs",
            path,
            fix="Put a line break or a plain space after `hooks:`.",
        )
    return None


def _may_have_hooks(front: str) -> bool:
    """Whether some key could be `hooks`: plain or in quotes, on a separate line or in braces."""
    starts = (part.lstrip(" \t\"'") for part in front.replace("{", "\n").replace(",", "\n").split("\n"))
    return any(start.startswith("hooks") and start[5:].lstrip(" \t\"'").startswith(":") for start in starts)


def _of_agent(hook: Hook, name: str) -> Hook:
    """A hook of a sub-agent; its Stop is the sub-agent's."""
    hook = hook.replace(matcher={"tool": hook.matcher, "pattern": {"agent": name}})
    if hook.native_event == "Stop":
        hook = hook.replace(native_event="SubagentStop", events=("subagent_stop",))
    return hook


def _of_skill(hook: Hook, name: str) -> Hook:
    """A hook that runs only while a skill is loaded."""
    return hook.replace(matcher={"tool": hook.matcher, "pattern": {"skill": name}})
