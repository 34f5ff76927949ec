"""A person elsewhere: the agent makes calls that a rule asks about, and a person at another terminal answers them. One
is allowed, one refused, one changed after it was shown, one answered by nobody, and the first one comes again."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from anyhook.extra.live.script import Step
from anyhook.extra.live.stage import Stage
from live.performance import ANYHOOK, Played, environment, play

WAIT_S = 20
SETTINGS = f'[ask]\nwhere = "elsewhere"\nwait_s = {WAIT_S}\n'
RULES = '[[rule]]\nname = "ask"\nwhen = "runs echo held"\nthen = "ask"\nbecause = "A person decides."\n'
CALLS = ("allowed", "refused", "changed", "late", "allowed")
"""The result of each call; the last one is the first one again, and nobody answers it."""


def held(word: str) -> Step:
    return Step(tool="shell", input={"command": f"echo held >> {word}.txt"})


def answered(agent: str) -> list[str]:
    """What went otherwise than it should."""
    hooks = {".config/anyhook/config.toml": SETTINGS, ".config/anyhook/hooks.toml": RULES}
    person = Person()
    steps = [*map(held, CALLS), Step("all done")]
    played = play(agent, hooks, steps, "Please make the calls.", beside=person.sit)
    person.leave()
    return [*person.wrong, *_differences(played, person)]


def _differences(played: Played, person: Person) -> list[str]:
    found = []
    if person.asked != [*CALLS]:
        found.append(f"asked about {', '.join(person.asked) or 'nothing'}")
    if (lines := played.texts.get("allowed.txt", "").splitlines()) != ["held"]:
        found.append(f"the allowed call ran {len(lines)} times")
    found += [f"ran: {word}" for word in ("refused", "changed", "late") if f"{word}.txt" in played.files]
    decisions = [each["decision"] for each in played.journal if each["event"] == "pre_tool"]
    by = [each["answered"]["by"] for each in decisions if each.get("answered")]
    if by[:2] != ["terminal", "terminal"]:
        found.append(f"the record does not say who answered: {by}")
    return found


class Person:
    """Somebody at another terminal."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.wrong: list[str] = []
        self._left = threading.Event()
        self._thread: threading.Thread | None = None

    def sit(self, stage: Stage) -> None:
        env = stage.env(environment())
        self._thread = threading.Thread(target=self._work, args=(env, Path(stage.home, ".local/state/anyhook/asked")))
        self._thread.start()

    def leave(self) -> None:
        self._left.set()
        if self._thread is not None:
            self._thread.join()

    def _work(self, env: Mapping[str, str], folder: Path) -> None:
        known = set[str]()
        while not self._left.wait(0.2):
            shown = subprocess.run(
                [ANYHOOK, "approvals", "--json"], env=env, capture_output=True, text=True, check=False
            )
            for each in json.loads(shown.stdout or "[]"):
                if each["id"] not in known:
                    known.add(each["id"])
                    self._meet(each["id"], each["what"], env, folder)

    def _meet(self, name: str, what: str, env: Mapping[str, str], folder: Path) -> None:
        word = next((each for each in CALLS if f"{each}.txt" in what), what)
        again = word in self.asked
        self.asked.append(word)
        if word == "changed":
            file = folder / name
            file.write_text(file.read_text().replace("changed.txt", "another.txt"))
        if word != "late" and not again:
            status = at_a_terminal(["approvals", "deny" if word == "refused" else "allow", name], env)
            if status != 0:
                self.wrong.append(f"{word}: the answer ended with {status}")


def at_a_terminal(words: list[str], env: Mapping[str, str]) -> int:
    """Run the command on a new terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([ANYHOOK, *words], stdin=theirs, stdout=theirs, stderr=theirs, env=env) as process:
        os.close(theirs)
        limit = time.monotonic() + 60
        try:
            while os.read(ours, 4096) and time.monotonic() < limit:
                pass
        except OSError:  # the other end is closed
            pass
    os.close(ours)
    return process.returncode
