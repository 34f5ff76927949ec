"""Shows the first two minutes (guards on, a command refused, the report, the page), then examples/all-five and
examples/agent, in copies with separate home directories, and checks every decision it shows. It does not touch the
user's files and needs no network."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 78
AGENT_SIZE = "160 MB"
BACKGROUND_LIMIT_S = 60.0


@dataclass(frozen=True)
class Scene:
    """One call of the command, a text about it, and the expected result."""

    title: str
    talk: str
    words: list[str]
    exit: int = 0
    shows: list[str] = field(default_factory=list)
    hides: list[str] = field(default_factory=list)
    prepare: Callable[[Path], None] | None = None
    wait_for: tuple[str, str] | None = None
    """A file of the project, and the text that a background hook writes there."""
    project: str = "all-five"
    """The example whose copy it uses."""
    home: str = "home"
    """Which home it uses: guards that are on in one are not on in the other."""
    needs_agent: bool = False
    """Whether it needs what `anyhook[agent]` installs."""
    first: int = 1000
    """How many lines are shown before the rest is left out, except for the last three."""


def fire(event: str, *words: str) -> list[str]:
    return ["fire", event, *words]


def bash(command: str) -> list[str]:
    return ["--tool", "Bash", "--input", f'{{"command": "{command}"}}']


def edit_the_guard(project: Path) -> None:
    script = project / ".agents/hooks/guard/scripts/run.sh"
    script.write_text(script.read_text() + "# a harmless comment, or so it says\n")


GUARDED: dict[str, Any] = {"project": "guarded", "home": "guarded-home"}

SCENES = [
    Scene(
        "Two minutes: set up",
        "One command turns the guards on, makes your agents call anyhook, proves that a dangerous call is refused, and"
        " says how to undo it. Without a name it takes every agent on the machine.",
        ["setup", "claude", "--yes"],
        shows=["Guards: turn on files, git, code", "Proof: `git push --force origin main` → refused",
               "anyhook remove guard"],
        **GUARDED,
    ),
    Scene(
        "A rule of the project",
        "This project has its own rule. It applies only after you have seen and approved it.",
        ["trust", "--yes"],
        shows=["runs make release", "Approved: 1"],
        **GUARDED,
    ),
    Scene(
        "A refused command",
        "What the agent is told: no, why, and what to do instead.",
        fire("PreToolUse", *bash("sudo rm -rf ~/projects")),
        exit=2,
        shows=["pre_tool: block (deny_tool)", "reason: This deletes the home folder"],
        **GUARDED,
    ),
    Scene(
        "In disguise",
        "Guards read what a call does, not how it is spelled. Here it is encoded and piped into a shell.",
        fire("PreToolUse", *bash("echo cm0gLXJmIH4K | base64 -d | sh")),
        exit=2,
        shows=["pre_tool: block (deny_tool)"],
        **GUARDED,
    ),
    Scene(
        "Text is not action",
        "The same words as text in a file, and a build folder: ordinary work passes.",
        fire("PreToolUse", *bash("rm -rf build; echo rm -rf / >> notes.md")),
        shows=["pre_tool: none"],
        hides=["block"],
        **GUARDED,
    ),
    Scene(
        "The report",
        "What one rule has stopped so far.",
        ["report", "files/delete-the-home-folder"],
        shows=["delete-the-home-folder"],
        **GUARDED,
    ),
    Scene(
        "Where you stand",
        "The command alone says whether you are protected, in which agents, and the next step.",
        [],
        shows=["guards on", "calls anyhook", "next    anyhook doctor --live"],
        **GUARDED,
    ),
    Scene(
        "The project's hooks",
        "A project with hooks of all five dialects, in the order in which they run. None of them is trusted yet:"
        " cloning a repository does not mean that you agree to run its code.",
        ["list"],
        shows=["untrusted  kode:project", "untrusted  kodik:project", "untrusted  agenthooks:project",
               "untrusted  kolega:project", "untrusted  kodelet:project"],
    ),
    Scene(
        "Nothing runs without approval",
        "An event reaches no hook, and says so.",
        fire("PreToolUse", *bash("git push --force")),
        shows=["no hook ran", "waiting-for-trust"],
    ),
    Scene(
        "Trust",
        "`anyhook trust` shows what would run and asks. Here we pass the answer in advance. The approval pins every"
        " declaration and every script by content.",
        ["trust", "--yes"],
        shows=["NEW  kode:project:", "re.subn", "Approved: 8", "changelog is a hook of agent_stop"],
        first=21,
    ),
    Scene(
        "Context",
        "kolega: the start of a session gives the model the house rules.",
        fire("SessionStart", "--source", "startup"),
        shows=["session_start: none", "context: House rules"],
    ),
    Scene(
        "A rewritten prompt",
        "kode: an access key does not leave the machine.",
        fire("UserPromptSubmit", "--prompt", "Deploy with AKIAABCDEFGHIJKLMNOP"),
        shows=["prompt → Deploy with [AWS key]", "message: took 1 AWS key(s) out"],
    ),
    Scene(
        "A rewritten command",
        "kodik makes the push a dry run. agenthooks runs next, sees the new command and does not object.",
        fire("PreToolUse", *bash("git push")),
        shows=["pre_tool: none", 'input → {"command": "git push --dry-run"}'],
    ),
    Scene(
        "A block",
        "The same event with a force push: agenthooks' guard exits with status 2. The agent is told why.",
        fire("PreToolUse", *bash("git push --force")),
        exit=2,
        shows=["pre_tool: block (deny_tool)", "reason: A force push rewrites"],
    ),
    Scene(
        "Shadow mode",
        "The same once more, but only to see what would have happened: exit status 0.",
        fire("PreToolUse", *bash("git push --force"), "--mode", "shadow"),
        shows=["pre_tool: block (deny_tool), not enforced"],
    ),
    Scene(
        "A block in Python",
        "kolega also runs callables, without starting a process.",
        fire("PreToolUse", "--tool", "Write", "--input", '{"text": "AWS_SECRET=1"}', "--dialect", "kolega"),
        exit=2,
        shows=["block (deny_tool)", "reason: Refusing to write a secret to disk."],
    ),
    Scene(
        "A background hook",
        "agenthooks: an async hook starts after everything else. Nothing waits for it, and it cannot block.",
        fire("PostToolUse", *bash("make"), "--output", "ok"),
        shows=["agenthooks:project:notes  background", "post_tool: none"],
        wait_for=("commands.log", "make"),
    ),
    Scene(
        "A follow-up",
        "kodelet: before the agent stops, it is asked for the changelog.",
        fire("Stop"),
        shows=["stop: none", "follow-up: Add your change to CHANGELOG.md."],
    ),
    Scene(
        "A broken hook",
        "kodik's deployment window reads a file that nobody wrote. By kodik's own rule the action goes on, and the"
        " problem is named with its place and its cause.",
        fire("PreToolUse", "--tool", "Deploy", "--input", "{}", "--dialect", "kodik"),
        shows=["pre_tool: none", "[hook-failed]", "so the action goes on"],
    ),
    Scene(
        "The same hook, strictly",
        "`--on-failure deny`: a broken gate is a closed gate.",
        fire("PreToolUse", "--tool", "Deploy", "--input", "{}", "--dialect", "kodik", "--on-failure", "deny"),
        exit=2,
        shows=["pre_tool: block (deny_tool)", "so it blocks"],
    ),
    Scene(
        "A changed script",
        "Somebody edits the guard. Its approval no longer holds, so it does not run until it is approved again;"
        " the hooks around it do.",
        fire("PreToolUse", *bash("git push --force")),
        prepare=edit_the_guard,
        shows=["agenthooks:project:guard  untrusted", "changed since it was approved", "waiting-for-trust"],
        hides=["block"],
    ),
    Scene(
        "What changed",
        "Without a terminal, `anyhook trust` approves nothing; it shows what is different.",
        ["trust", "--dialect", "agenthooks"],
        exit=1,
        shows=["agenthooks:project:guard", "+# a harmless comment, or so it says", "Not approved"],
    ),
    Scene(
        "Explain",
        "What would run, with every detail, without running it.",
        ["explain", "SessionStart", "--source", "startup"],
        shows=["run    python3 .kolega/welcome.py", "stdin"],
    ),
    Scene(
        "The journal",
        "Every event above, with its outcome.",
        ["log"],
        shows=[
            "· none         session_start  startup",
            "✗ block        pre_tool Bash  git push --force  agenthooks:project:guard: ",
            "background  agenthooks:project:notes",
        ],
    ),
    Scene(
        "A refused command in an agent",
        "So far we played the agent. Here is a real one, guarded by what we set up at the beginning. A script plays the"
        " model: it wants to delete too much, is told why not, and does less.",
        ["agent", "run", "Clean up and publish.", "--model", "script:script.yaml", "--permission", "auto"],
        needs_agent=True,
        shows=["This deletes the home folder", "The build folder is gone, your home folder is not"],
        **GUARDED,
    ),
    Scene(
        "An agent",
        "The same agent in another project, with hooks of all five dialects: it fires every event. A script plays"
        " the model: it tries to force-push, to write a secret, and to stop without a changelog"
        " entry. `--trust-hooks` approves the project's hooks as they are, then the work begins.",
        ["agent", "run", "Publish it; the key is AKIA0123456789ABCDEF.", "--model", "script:script.yaml",
         "--permission", "auto", "--trust-hooks"],
        project="agent",
        needs_agent=True,
        shows=["took 1 AWS key(s) out", "deny_tool: A force push rewrites", "deny_tool: Refusing to write a secret",
               "follow-up: Add your change to CHANGELOG.md", "write_file(path=CHANGELOG.md",
               "Nothing was pushed, no secret was written"],
    ),
    Scene(
        "The same session, later",
        "The session is saved, and `--follow` resumes it. With `--debug` you would also see what each hook reads and"
        " prints.",
        ["agent", "run", "What did you change?", "--follow", "--model", "script:again.yaml"],
        project="agent",
        needs_agent=True,
        shows=["Only CHANGELOG.md."],
    ),
]  # fmt: skip

PAGE_AFTER = next(scene for scene in SCENES if scene.title == "The report")

NEXT = """
What to try next:

  examples/            one small project per dialect; cd into one, then
                       anyhook fire … --trust all, as its README says
  anyhook setup        guards for the agents on your machine
  docs/guards.md       what they refuse, and how to relax one
  anyhook new guard --dialect kodik --event PreToolUse --tool Bash
                       write a hook of your own
  anyhook check        what is wrong with a project's hook files
  anyhook dialects     what a hook of each event may do
  docs/guide.md        the guide for hook authors
  docs/agent.md        the agent, with a real model, and its hooks in an agent
                       of your own

The command is in {folder}; `pip install .` puts it where you want it.
"""

WITHOUT = "They are left out here; everything before them needed only the core."


class BrokenPromiseError(Exception):
    """A scene went differently from what the demo promises."""


class Stage:
    """The copy of the project, its own home, and the terminal."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in {scene.project for scene in SCENES}:
            shutil.copytree(ROOT / "examples" / name, folder / name)
        for home in {scene.home for scene in SCENES}:
            (folder / home).mkdir()
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
        # Without a warm server, which would outlive the demo.
        self.env = {"PATH": path, "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", "ANYHOOK_WARM": "off"}
        self.bold, self.plain = ("\033[1m", "\033[0m") if sys.stdout.isatty() else ("", "")

    def play(self, number: int, scene: Scene) -> None:
        rule = "─" * max(2, WIDTH - len(scene.title) - len(str(number)) - 6)
        say(f"\n{self.bold}── {number}. {scene.title}{self.plain} {rule}\n")
        say(textwrap.fill(scene.talk, WIDTH) + "\n")
        if scene.prepare is not None:
            scene.prepare(self.folder / scene.project)
        say(f"{self.bold}{command_line(scene.words)}{self.plain}")
        done = subprocess.run(
            ["anyhook", *scene.words],
            cwd=self.folder / scene.project,
            env={**self.env, "HOME": str(self.folder / scene.home)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=120,
        )
        lines = done.stdout.splitlines()
        if len(lines) > scene.first + 4:
            left_out = f"[… {len(lines) - scene.first - 3} more lines: every hook and every script in full]"
            lines[scene.first : -3] = ["", left_out, ""]
        for line in lines:
            say(fold(line))
        if done.returncode:
            say(f"  [exit status {done.returncode}]")
        if scene.wait_for is not None:
            self.wait(self.folder / scene.project, *scene.wait_for)
        expect(scene, done.returncode, done.stdout)

    def wait(self, project: Path, name: str, text: str) -> None:
        """Wait for the output of a background hook, not for a fixed time."""
        path = project / name
        deadline = time.monotonic() + BACKGROUND_LIMIT_S
        while not (path.is_file() and text in path.read_text()):
            if time.monotonic() > deadline:
                raise BrokenPromiseError(f"the background hook did not write {text!r} into {name}")
            time.sleep(0.05)
        say(f"{self.bold}$ cat {name}{self.plain}\n  {path.read_text().strip()}")

    def page(self) -> None:
        """The journal as a page: serves it, looks at it once as a browser would, and stops."""
        say(f"\n{self.bold}── The page{self.plain} {'─' * (WIDTH - 12)}\n")
        say(textwrap.fill("The same journal in the browser, on this machine only.", WIDTH) + "\n")
        say(f"{self.bold}$ anyhook serve{self.plain}")
        if not has_page():
            say(fold("It needs two more packages: pip install 'anyhook[web]'. It is left out here."))
            return
        env = {**self.env, "HOME": str(self.folder / GUARDED["home"])}
        call = ["anyhook", "serve"]
        with subprocess.Popen(call, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
            try:
                address = server.stdout.readline().strip() if server.stdout else ""
                with urllib.request.urlopen(address, timeout=60) as answer:  # noqa: S310 (our own, on this machine)
                    html = answer.read().decode()
            except (OSError, ValueError) as error:
                raise BrokenPromiseError(f"the page does not answer: {error}") from None
            finally:
                server.terminate()
        if "<title>anyhook" not in html:
            raise BrokenPromiseError("the page is not the page of anyhook")
        say(fold(f"{address}  ({len(html):,} characters of page, then closed again)"))


def expect(scene: Scene, status: int, output: str) -> None:
    wrong = [f"it does not say {text!r}" for text in scene.shows if text not in output]
    wrong += [f"it says {text!r}" for text in scene.hides if text in output]
    if status != scene.exit:
        wrong.append(f"exit status {status} instead of {scene.exit}")
    if wrong:
        raise BrokenPromiseError(f"scene {scene.title!r}: {'; '.join(wrong)}")


def fold(line: str) -> str:
    """A line of output, indented, and folded if it is too long."""
    indent = "  " + " " * (len(line) - len(line.lstrip()))
    text = line.strip()
    if len(indent) + len(text) > WIDTH:
        text = re.sub(r" {3,}", "  ", text)  # columns do not line up in a folded line anyway
    folded = textwrap.wrap(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent + "    ", break_on_hyphens=False,
    )  # fmt: skip
    return "\n".join(folded)


def command_line(words: list[str]) -> str:
    """The call as a person would type it, folded between options if it is too long."""
    parts: list[str] = []
    for word in words:
        if word.startswith("--") or len(parts) < 2:
            parts.append(shlex.quote(word))
        else:
            parts[-1] += f" {shlex.quote(word)}"
    lines = ["$ anyhook"]
    for place, part in enumerate(parts, 1):
        room = WIDTH if place == len(parts) else WIDTH - 2  # for the backslash
        if len(lines[-1]) + len(part) > room:
            lines[-1] += " \\"
            lines.append("   ")
        lines[-1] += f" {part}"
    return "\n".join(lines)


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def has_agent() -> bool:
    """Whether this interpreter has what the agent's scenes need."""
    names = ("pydantic_ai", "pydantic_ai_harness", "openai")
    return all(importlib.util.find_spec(name) is not None for name in names)


def has_page() -> bool:
    return all(importlib.util.find_spec(name) is not None for name in ("starlette", "uvicorn", "sse_starlette"))


def with_agent() -> bool:
    """Say what the agent's scenes need, and install it if it is missing. Returns whether it is there."""
    if has_agent():
        return True
    place = Path(sys.prefix).name
    say(
        f"\n{'─' * WIDTH}\n"
        + textwrap.fill(
            f"The last {sum(scene.needs_agent for scene in SCENES)} scenes show anyhook's own agent. It needs"
            f" pydantic-ai and the packages below it: about {AGENT_SIZE}, which are now installed into {place}.",
            WIDTH,
        )
    )
    call = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--editable", ".[agent]"]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=False)
    importlib.invalidate_caches()
    if done.returncode == 0 and has_agent():
        return True
    why = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["pip said nothing"]
    say(textwrap.fill(f"That did not work ({why[-1]}). {WITHOUT}", WIDTH))
    return False


def main() -> int:
    folder = Path(tempfile.mkdtemp(prefix="anyhook-")).resolve()
    played = 0
    try:
        stage = Stage(folder)
        for number, scene in enumerate(SCENES, 1):
            if scene.needs_agent and not with_agent():
                break
            stage.play(number, scene)
            played = number
            if scene is PAGE_AFTER:
                stage.page()
    except BrokenPromiseError as error:
        sys.stderr.write(f"\nThis is not what the demo promises: {error}.\n")
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    left = f"; {len(SCENES) - played} were left out" if played < len(SCENES) else ""
    say(f"\n{'─' * WIDTH}\nAll {played} scenes came out as promised{left}.")
    say(NEXT.format(folder=f"{Path(sys.prefix).name}/bin").rstrip())
    return 0


if __name__ == "__main__":
    sys.exit(main())
