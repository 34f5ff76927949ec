"""What is published beside the package: the plug-in, the npm shim, the formula, and one version everywhere."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "plugins" / "anyhook"
SHIM = ROOT / "packaging" / "npm" / "anyhook.js"
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
IN_JSON = [*sorted(PLUGIN.glob(".*-plugin/plugin.json")), ROOT / "packaging" / "npm" / "package.json"]
IN_TEXT = {
    "src/anyhook/__init__.py": r'__version__ = "(.+)"',
    "action.yml": r"as pip writes it \((.+?)\)",
    ".pre-commit-hooks.yaml": r"rev: v(.+)",
}


def test_the_version_is_the_same_everywhere() -> None:
    versions = {str(path): json.loads(path.read_text())["version"] for path in IN_JSON}
    versions |= {name: found for name, look in IN_TEXT.items() for found in re.findall(look, (ROOT / name).read_text())}
    assert versions.keys() == {*map(str, IN_JSON), *IN_TEXT}
    assert set(versions.values()) == {VERSION}


def test_the_marketplace_and_the_manifests_name_what_is_there() -> None:
    market = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text())
    assert [ROOT / each["source"] for each in market["plugins"]] == [PLUGIN]
    for manifest in PLUGIN.glob(".*-plugin/plugin.json"):
        read = json.loads(manifest.read_text())
        assert read["name"] == market["plugins"][0]["name"]
        assert (PLUGIN / read["hooks"]).is_file()
    assert {path.parent.name for path in PLUGIN.glob("skills/*/SKILL.md")} == {"setup", "status"}


def fake(folder: Path, text: str) -> Path:
    """A folder with an `anyhook` of this text."""
    folder.mkdir(exist_ok=True)
    program = folder / "anyhook"
    program.write_text(text)
    program.chmod(0o755)
    return folder


@pytest.mark.parametrize("agent", ["claude", "codex"])
@pytest.mark.parametrize(
    ("status", "said"), [(0, ""), (1, "not protected"), (3, "not protected"), (None, "not installed")]
)
def test_the_plugin_says_when_a_session_is_not_guarded(
    agent: str, status: int | None, said: str, tmp_path: Path
) -> None:
    manifest = json.loads((PLUGIN / f".{agent}-plugin" / "plugin.json").read_text())
    hooks = json.loads((PLUGIN / manifest["hooks"]).read_text())["hooks"]
    assert list(hooks) == ["SessionStart"], "it judges no call: each is judged once, by the entry"
    [handler] = hooks["SessionStart"][0]["hooks"]
    folder = tmp_path / "bin"
    if status is not None:
        fake(folder, f'#!/bin/sh\necho "$@" > {tmp_path}/asked\necho chatter; exit {status}\n')
    done = subprocess.run(
        ["/bin/sh", "-c", handler["command"]], env={"PATH": str(folder)}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert said in (json.loads(done.stdout)["systemMessage"] if said else done.stdout)
    assert bool(done.stdout) == bool(said)
    if status is not None:
        assert (tmp_path / "asked").read_text() == f"status {agent}\n"


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_npm_shim_starts_the_anyhook_that_is_installed(tmp_path: Path) -> None:
    node = shutil.which("node")
    assert node is not None
    real = fake(tmp_path / "real", '#!/bin/sh\necho "real: $@"; exit 2\n')
    made = fake(tmp_path / "pnpm", f'#!/bin/sh\nexec node {SHIM} "$@"\n')
    linked = tmp_path / "npm"
    linked.mkdir()
    (linked / "anyhook").symlink_to(SHIM)

    def run(*folders: Path) -> tuple[int, str, str]:
        env = {"PATH": os.pathsep.join(map(str, folders))}
        done = subprocess.run([node, SHIM, "try", "a b"], env=env, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    assert run(linked, made, real) == (2, "real: try a b\n", "")
    status, out, told = run(linked, made)
    assert (status, out) == (127, "")
    assert "pipx install anyhook" in told


def test_the_formula_has_a_place_for_what_a_release_fills_in() -> None:
    text = (ROOT / "packaging" / "anyhook.rb").read_text()
    assert (text.count("@VERSION@"), text.count("@SHA256@")) == (1, 1)
