"""A team with keys and a signed policy, made with the real ssh-keygen and git."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path
    from subprocess import CompletedProcess

    from conftest import World

RULE = '[[rule]]\nname = "no release"\nwhen = "runs make release"\nbecause = "CI makes releases."\n'
RELEASE, FORCED = "make release", "git push --force"


def run(*words: str, cwd: Path | None = None) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True, cwd=cwd).stdout


class Team:
    """A policy in a folder, and the keys of those who sign it."""

    def __init__(self, world: World) -> None:
        self.world, self.folder, self.version = world, world.root / "policy", 0
        self.key = self.new_key("lead")
        self.write("hooks.toml", RULE)

    def new_key(self, name: str) -> Path:
        """A key; the public one is beside it, with the ending .pub."""
        path = self.world.root / name
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", f"{name}@team", "-f", str(path))
        return path

    def public(self, *keys: Path) -> Path:
        """A file with the public keys."""
        path = self.world.root / "keys.pub"
        path.write_text("".join(key.with_suffix(".pub").read_text() for key in keys or (self.key,)))
        return path

    def write(self, path: str, text: str) -> None:
        self.world.write(self.folder / path, text)

    def listed(self) -> dict[str, str]:
        """The SHA-256 of every file, as the contract says: all but the manifest, its signatures and `.git`."""
        found = {}
        for where, folders, names in os.walk(self.folder):
            folders[:] = [name for name in folders if name != ".git"]
            for path in (os.path.join(where, name) for name in names):
                inside = os.path.relpath(path, self.folder)
                if os.path.isfile(path) and not inside.startswith("manifest.json"):
                    with open(path, "rb") as file:
                        found[inside] = hashlib.sha256(file.read()).hexdigest()
        return found

    def sign(self, number: int | None = None, *keys: Path, **manifest: Any) -> None:
        """Write the manifest and its signatures."""
        self.version = self.version + 1 if number is None else number
        said = {"name": "acme", "version": self.version, "files": self.listed()} | manifest
        self.write("manifest.json", json.dumps(said))
        for old in self.folder.glob("manifest.json.sig*"):
            old.unlink()
        for place, key in reversed([*enumerate(keys or (self.key,), 1)]):
            self.sign_again(key)
            if place > 1:
                (self.folder / "manifest.json.sig").rename(self.folder / f"manifest.json.sig.{place}")

    def sign_again(self, key: Path, purpose: str = "anyhook-policy") -> None:
        (self.folder / "manifest.json.sig").unlink(missing_ok=True)
        run("ssh-keygen", "-q", "-Y", "sign", "-n", purpose, "-f", str(key), str(self.folder / "manifest.json"))

    def pull(self, *words: str, source: object = None) -> CompletedProcess[str]:
        done = self.world.command("policy", "pull", str(source or self.folder), *words)
        assert "Traceback" not in done.stderr
        return done

    def start(self, *words: str) -> Team:
        """Sign and pull the first version."""
        self.sign()
        done = self.pull("--key", f"{self.key}.pub", *words)
        assert done.returncode == 0, done.stderr
        return self

    def state(self) -> dict[str, Any]:
        """The policy, as `policy --json` shows it."""
        (found,) = json.loads(self.world.command("policy", "--json").stdout)["policies"]
        made: dict[str, Any] = found
        return made

    def verdict(self, line: str = RELEASE) -> str:
        return str(self.world.fire("pre_tool", "--tool", "Bash", "--input", json.dumps({"command": line}))["verdict"])

    def installed(self) -> Path:
        """The folder that its files are in."""
        base = self.world.home / "config" / "anyhook" / "policies"
        entry = json.loads((base / "index.json").read_text())["policies"]["acme"]
        return base / "acme" / str(entry["folder"])
