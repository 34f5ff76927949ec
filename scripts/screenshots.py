"""Takes the pictures in the docs: the command in a terminal, drawn by `rich`, and the page, by a browser.

    python scripts/screenshots.py [FOLDER]

Everything runs for real, in a separate home and project. Without Chromium on PATH there is no picture of the page.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
sys.path.insert(0, str(ROOT / "tests" / "journal"))

from browser import Browser, program  # noqa: E402 (the tests' own)

FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
COMMAND = [sys.executable, "-m", "anyhook"]
SHOTS = {
    "setup": [["setup", "claude", "--yes"]],
    "refused": [
        ["try", "git push --force"],
        ["try", "echo cm0gLXJmIH4K | base64 -d | sh"],
        ["try", 'git commit -m "remove rm -rf /"'],
    ],
    "greeting": [[]],
}
"""Pictures of the terminal, in this order: the later ones show what the earlier ones did."""


def main() -> int:
    images = Path(sys.argv[1]) if sys.argv[1:] else IMAGES
    images.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="anyhook-shots-") as folder:
        home, project = Path(folder, "you"), Path(folder, "you", "project")
        project.mkdir(parents=True)
        env = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "ANYHOOK_WARM": "off",
            "FORCE_COLOR": "1",
            "COLUMNS": "96",
        }
        for name, calls in SHOTS.items():
            terminal(images / f"{name}.svg", calls, project, env)
        if program():
            page(images / "page.png", project, env)
    return 0


def terminal(path: Path, calls: list[list[str]], project: Path, env: dict[str, str]) -> None:
    """Calls of the command and what they print."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=96, file=nowhere)
        for words in calls:
            done = subprocess.run(
                [*COMMAND, *words], cwd=project, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
            )
            typed = shlex.join(["anyhook", *words])
            console.print(Text(f"$ {typed}", style="bold"))
            console.print(Text.from_ansi(done.stdout.decode().replace(env["HOME"], "~")))
    # Without fonts that a reader's browser would fetch from elsewhere.
    path.write_text(FONT.sub("", console.export_svg(title="anyhook")), encoding="utf-8")


def page(path: Path, project: Path, env: dict[str, str]) -> None:
    """The first screen of `anyhook serve`, after a few calls."""
    for line in ("npm test", "git push --force", "git status"):
        fire = ["fire", "pre_tool", "--tool", "Bash", "--input", json.dumps({"command": line})]
        subprocess.run([*COMMAND, *fire], cwd=project, env=env, capture_output=True, check=False)
    with subprocess.Popen([*COMMAND, "serve"], cwd=project, env=env, stdout=subprocess.PIPE, text=True) as server:
        try:
            address = server.stdout.readline().strip() if server.stdout else ""
            browser = Browser(Path(env["HOME"], "browser"))
            browser.open(address)
            browser.wait(
                "document.querySelectorAll('#rows tr').length > 2 && !document.getElementById('standing').hidden"
            )
            path.write_bytes(base64.b64decode(browser.call("Page.captureScreenshot")["data"]))
            browser.close()
        finally:
            server.terminate()


if __name__ == "__main__":
    raise SystemExit(main())
