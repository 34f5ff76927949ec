"""Scenes: a home and project with one guard, and every way to lose that guard."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from anyhook.documents import edit
from anyhook.extra.live.script import Step
from anyhook.extra.live.stage import Stage, fill
from anyhook.install.changes import places
from anyhook.install.entries import is_ours
from anyhook.platform.places import state_dir
from anyhook.state.entry_places import roots_of
from anyhook.state.installs import own_name
from anyhook.tables.host_rows import Host, OffSwitch
from live.performance import ANYHOOK, environment

WORD = "sabotagedcall"
CALL = Step(tool="shell", input={"command": f"echo {WORD} > ran.txt"})
GUARD = f"#!/bin/sh\nif grep -q {WORD}; then echo 'refused by the guard' >&2; exit 2; fi\nexit 0\n"
FILE = ".kodik/hooks/hooks.json"
USERS = "Documents/Kodik/Hooks/hooks.json"
GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main")
HIDDEN = "entry of the same name in the project"
WHOLE_FILES = ("module", "scripts")
"""Entry styles in which the whole file is ours."""


class Scene:
    """A home with our entry, a project with a guard, and the damage done to them."""

    def __init__(self, table: Host, folder: str) -> None:
        self.table, self.stage = table, Stage(folder)
        self.stage.build()
        self.env = {**self.stage.env(environment()), "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
        self.steps: list[Step] = [CALL]
        self.home, self.root = Path(self.stage.home), Path(self.stage.project)

    def run(self, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words, env=self.env, cwd=cwd or self.stage.project, capture_output=True, text=True, check=False
        )

    def anyhook(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.run(str(ANYHOOK), *words)

    def write(self, path: Path, text: str, mode: int = 0o644) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)

    def guard(self, base: Path | None = None) -> None:
        """The guard of the project, or of the user."""
        path = self.root / FILE if base is None else base / USERS
        script = self.root / "guard.sh" if base is None else base / "guard.sh"
        self.write(script, GUARD, 0o755)
        command = "./guard.sh" if base is None else str(script)
        group = {"hooks": [{"type": "command", "command": command}]}
        self.write(path, json.dumps({"hooks": {"PreToolUse": [group]}}))

    def approved(self) -> None:
        self.guard()
        self.anyhook("trust", "--yes")

    def config(self, text: str) -> None:
        self.write(self.home / ".config/anyhook/config.toml", text)

    def entries(self) -> Iterator[Path]:
        assert self.table.entry is not None
        for path in places(self.table, self.table.entry, "user", self.stage.home, self.stage.project, self.env):
            yield Path(path)


# -- the sabotages


def intact(scene: Scene) -> None:
    scene.approved()


def unapproved(scene: Scene) -> None:
    scene.guard()


def changed_by_the_agent(scene: Scene) -> None:
    scene.approved()
    scene.steps.insert(0, Step(tool="shell", input={"command": "echo '#' >> guard.sh"}))


def deleted_by_the_agent(scene: Scene) -> None:
    scene.approved()
    scene.steps.insert(0, Step(tool="shell", input={"command": f"rm -f {FILE}"}))


def changed_meanwhile(scene: Scene) -> None:
    """Changed by a script that the agent runs, which the call does not show."""
    scene.approved()
    scene.write(scene.root / "tidy.sh", "echo '#' >> guard.sh\n")
    scene.steps.insert(0, Step(tool="shell", input={"command": "sh tidy.sh"}))


def changed(scene: Scene) -> None:
    scene.approved()
    with open(scene.root / "guard.sh", "a") as file:
        file.write("#")


def deleted(scene: Scene) -> None:
    scene.approved()
    (scene.root / FILE).unlink()


def script_missing(scene: Scene) -> None:
    scene.approved()
    (scene.root / "guard.sh").unlink()


def users_script_missing(scene: Scene) -> None:
    scene.guard(scene.home)
    (scene.home / "guard.sh").unlink()


def bad_json(scene: Scene) -> None:
    scene.guard(scene.home)
    scene.approved()
    (scene.root / FILE).write_text('{"hooks": {')


def bad_json_alone(scene: Scene) -> None:
    scene.approved()
    (scene.root / FILE).write_text('{"hooks": {')


def digits(scene: Scene) -> None:
    scene.guard(scene.home)
    scene.guard()
    text = (scene.root / FILE).read_text()
    (scene.root / FILE).write_text(text.replace('"type"', f'"timeout": {"9" * 309}, "type"'))


def oversized(scene: Scene) -> None:
    scene.guard(scene.home)
    for number in range(45):
        scene.write(scene.root / f".github/hooks/{number}.json", json.dumps({"version": 1, "x": "y" * 1_000_000}))


def sub_folder(scene: Scene) -> None:
    scene.approved()
    (scene.root / "sub").mkdir()
    scene.stage.project = str(scene.root / "sub")


def worktree(scene: Scene) -> None:
    shutil.rmtree(scene.root / ".git")
    scene.run(*GIT, "init")
    scene.guard()
    for words in (("add", "."), ("commit", "-m", "guard"), ("worktree", "add", "../tree")):
        scene.run(*GIT, *words)
    scene.anyhook("trust", "--yes")
    scene.stage.project = str(scene.root.parent / "tree")


def shadow(scene: Scene) -> None:
    scene.approved()
    scene.config('mode = "shadow"\n')


def disabled(scene: Scene) -> None:
    scene.approved()
    scene.anyhook("disable", json.loads(scene.anyhook("list", "--json").stdout)["hooks"][0]["id"])


def corrupt_ledger(scene: Scene) -> None:
    scene.approved()
    (scene.home / ".local/state/anyhook/trust.json").write_text("{")


def merge_conflict(scene: Scene) -> None:
    scene.guard(scene.home)
    (scene.home / "guard.sh").write_text(f"#!/bin/sh\n<<<<<<< HEAD\n{GUARD}=======\nexit 0\n>>>>>>> theirs\n")


def entry_removed(scene: Scene) -> None:
    scene.approved()
    in_entry(scene, lambda group: None)


def entry_narrowed(scene: Scene) -> None:
    scene.approved()
    in_entry(scene, lambda group: {**group, "matcher": "no_such_tool"})


def launcher_gone(scene: Scene) -> None:
    scene.approved()
    for path in scene.entries():
        path.write_text(path.read_text().replace(str(ANYHOOK), "/gone/bin/anyhook"))


def launcher_gone_closed(scene: Scene) -> None:
    scene.anyhook("install", scene.table.name, "--closed")
    launcher_gone(scene)


def switched_off(layer: str) -> Callable[[Scene], None]:
    """The agent's hooks, turned off in one of its settings layers."""

    def apply(scene: Scene) -> None:
        scene.approved()
        assert scene.table.entry is not None
        roots = roots_of(scene.table.entry, scene.stage.home, scene.stage.project, {})
        path, switch = Path(fill(layer, roots)), switch_for(scene.table, layer)
        before = path.read_text() if path.exists() else ""
        if (switch.key[-1] if switch.key else str(switch.value)) in before:
            return
        if not switch.key:
            native = next(row.native for row in scene.table.events if "pre_tool" in row.canonical)
            scene.write(path, f"{before}global{switch.value}{snake(native)}[0].hooks[0]\n")
            return
        if path.suffix == ".toml":
            *table, key = switch.key
            heading = f"[{'.'.join(table)}]\n" if table else ""
            scene.write(path, f"{before}{heading}{key} = {json.dumps(switch.value)}\n")
            return
        document = json.loads(before or "{}")
        inner = document
        for key in switch.key[:-1]:
            inner = inner.setdefault(key, {})
        inner[switch.key[-1]] = switch.value
        scene.write(path, json.dumps(document))

    return apply


def off_by_variable(layer: str) -> Callable[[Scene], None]:
    """The same by a variable, in a file from which the agent reads variables."""

    def apply(scene: Scene) -> None:
        scene.approved()
        assert scene.table.entry is not None
        roots = roots_of(scene.table.entry, scene.stage.home, scene.stage.project, scene.env)
        path, name = Path(fill(layer, {**roots, "here": scene.stage.project})), scene.table.variables[0]
        before = path.read_text() if path.exists() else ""
        if path.suffix == ".json":
            scene.write(path, json.dumps({**json.loads(before or "{}"), "env": {name: "1"}}))
        elif name in scene.table.moving_variables:
            elsewhere = scene.root / "elsewhere"
            if not elsewhere.exists():
                elsewhere.mkdir()
                (elsewhere / "data").symlink_to(Path(roots["config"], "data"))  # all but the hooks
            scene.write(path, f"{name}={elsewhere}\n")
        elif name not in before:
            scene.write(path, f"{before}{name}=1\n")

    return apply


def hidden(scene: Scene) -> None:
    """The project has an entry with the same name and place that does nothing."""
    scene.approved()
    entry = scene.table.entry
    assert entry is not None
    for path in places(scene.table, entry, "project", scene.stage.home, scene.stage.project, scene.env):
        text = next(mine for mine in scene.entries() if mine.name == Path(path).name).read_text()
        idle = "// nothing\n" if path.endswith((".js", ".ts")) else text.replace(str(ANYHOOK), "/bin/true")
        scene.write(Path(path), idle.replace(own_name(state_dir(scene.env)), "anyhook"), 0o755)


def switch_for(table: Host, layer: str) -> OffSwitch:
    """What turns hooks off in that file: a variable in a file of variables, otherwise a key."""
    has_keys = Path(layer).suffix in (".json", ".toml", ".yaml")
    return next(switch for switch in table.switches if bool(switch.key) == has_keys)


def snake(native: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in native).lstrip("_")


def in_entry(scene: Scene, change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> None:
    """Change or remove our entry for the event before a tool, in the agent's config."""
    entry = scene.table.entry
    assert entry is not None
    native = next(row.native for row in scene.table.events if "pre_tool" in row.canonical)
    for path in scene.entries():
        if entry.style in WHOLE_FILES:
            if entry.style == "module" or path.name == native:
                path.unlink()
            continue
        if entry.style == "tables":
            _drop_table(path, native)
            continue
        # Every JSON document is also YAML.
        document = yaml.safe_load(path.read_text())
        hooks = document
        for key in entry.under:
            hooks = hooks.get(key) if isinstance(hooks, dict) else None
        if not isinstance(hooks, dict) or native not in hooks:
            continue
        kept = []
        for group in hooks[native]:
            ours = any(is_ours(value, scene.table) for value in _texts(group))
            made = change(group) if ours else group
            kept += [made] if made is not None else []
        hooks[native] = kept
        path.write_text(json.dumps(document))


def _drop_table(path: Path, native: str) -> None:
    """A TOML file without our table for this event."""
    text = path.read_text()
    listed = tomllib.loads(text)["hooks"]
    mine = next(at for at, hook in enumerate(listed) if native in shlex.split(str(hook["command"])))
    path.write_text(edit.remove(text, "toml", ("hooks", mine)))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(item)


SABOTAGES: dict[str, Callable[[Scene], None]] = {
    "nothing": intact,
    "unapproved": unapproved,
    "changed by the agent": changed_by_the_agent,
    "deleted by the agent": deleted_by_the_agent,
    "changed by a script that the agent runs": changed_meanwhile,
    "changed by somebody": changed,
    "deleted by somebody": deleted,
    "script missing": script_missing,
    "user's script missing": users_script_missing,
    "merge conflict": merge_conflict,
    "bad JSON": bad_json_alone,
    "bad JSON beside the user's guard": bad_json,
    "309 digits beside the user's guard": digits,
    "oversized clone beside the user's guard": oversized,
    "sub-folder": sub_folder,
    "worktree": worktree,
    "shadow": shadow,
    "disabled": disabled,
    "corrupt ledger": corrupt_ledger,
    "entry removed": entry_removed,
    "entry narrowed": entry_narrowed,
    HIDDEN: hidden,
    "launcher gone": launcher_gone,
    "launcher gone, closed": launcher_gone_closed,
}
SWITCHED_OFF, BY_VARIABLE = "hooks off in ", "hooks off by a variable in "
HARMLESS = ("nothing", "sub-folder", "worktree")
"""Sabotages in which the guard must hold, and `status` must say so."""
CHOSEN = ("shadow", "disabled")
"""Sabotages that the user chose: the session does not mention them, and `status` shows them."""


def sabotages(table: Host) -> dict[str, Callable[[Scene], None]]:
    """All sabotages for one agent: with its own settings layers, and narrowing only if its entry allows it."""
    found = dict(SABOTAGES)
    if table.entry is not None and table.entry.style != "groups":
        del found["entry narrowed"]
    if table.entry is not None and "project" not in table.entry.files:
        del found[HIDDEN]
    for layer in table.settings if table.switches else ():
        if layer.startswith("{"):
            found[f"{SWITCHED_OFF}{layer}"] = switched_off(layer)
    for layer in table.variable_files:
        found[f"{BY_VARIABLE}{layer}"] = off_by_variable(layer)
    return found
