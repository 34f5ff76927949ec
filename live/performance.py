"""Runs one agent through one trial, in a home with only our entry and the trial's hooks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from anyhook.extra.live.drive import DriveResult, drive
from anyhook.extra.live.script import Step
from anyhook.extra.live.stage import Stage
from anyhook.tables.registry import host
from live.hooks import borrowed
from live.looks import Evidence
from live.matrix import NOT_FIRED, SUB_AGENTS
from live.trials import SUB, Trial

AGENTS = Path(__file__).resolve().parent.parent / ".agents"
FOLDERS = ("src", "docs", "secrets")
"""Folders that exist in advance, because some tools do not create them."""
LIMIT_S = 900
ANYHOOK = Path(sys.executable).with_name("anyhook")


class Played:
    """The results of a run: what was seen from outside, the journal's records, the files."""

    def __init__(
        self, seen: DriveResult, journal: list[dict[str, Any]], texts: Mapping[str, str], spent_s: float
    ) -> None:
        self.seen, self.journal, self.texts, self.spent_s = seen, journal, texts, spent_s

    @property
    def files(self) -> frozenset[str]:
        return frozenset(self.texts)

    @property
    def evidence(self) -> Evidence:
        return Evidence(
            files=self.files,
            requests=self.seen.requests,
            shown=self.seen.stdout + self.seen.stderr,
            fired=frozenset(record["event"] for record in self.journal),
        )


def environment() -> dict[str, str]:
    return {**os.environ, "PATH": f"{AGENTS / 'bin'}:{ANYHOOK.parent}:{os.environ['PATH']}"}


def play(
    agent: str,
    hooks: Mapping[str, str],
    steps: Sequence[Step],
    prompt: str,
    *,
    entry: str | None = None,
    scenario: str = "",
    beside: Callable[[Stage], None] | None = None,
) -> Played:
    """Runs the agent. `entry` replaces our command in the entry, for comparison. `beside` is called just before."""
    table = host(agent)
    with tempfile.TemporaryDirectory(prefix="anyhook-trial-", ignore_cleanup_errors=True) as folder:
        stage = Stage(os.path.realpath(folder))
        stage.build()
        env = environment()
        words = [str(ANYHOOK), "install", agent]
        subprocess.run(words, env=stage.env(env), cwd=stage.project, check=True, capture_output=True)
        if entry is not None:
            replace_entry(stage.home, entry)
        for path, text in hooks.items():
            where = f"{stage.home}/{path}"
            if os.path.exists(where):
                raise ValueError(f"{path} holds the entry of {agent}: its trials need hooks in another dialect")
            stage.write(where, text)
            os.chmod(where, 0o755)  # some are scripts
        for name in FOLDERS:
            os.mkdir(f"{stage.project}/{name}")
        if beside is not None:
            beside(stage)
        before = os.times()
        seen = drive(agent, shutil.which(table.program, path=env["PATH"]) or table.program, stage, steps, env,
                     prompt=prompt, scenario=scenario, limit_s=LIMIT_S, trusts_hooks=True)  # fmt: skip
        after = os.times()
        spent_s = after.children_user + after.children_system - before.children_user - before.children_system
        records = recorded(stage)
        found = [path for path in Path(stage.project).rglob("*") if ".git" not in path.parts]
        texts = {
            str(path.relative_to(stage.project)): path.read_text(errors="replace") if path.is_file() else ""
            for path in found
        }
    return Played(seen, records, texts, spent_s)


def recorded(stage: Stage) -> list[dict[str, Any]]:
    """The journal's records of events; the result of a background hook is in a separate line."""
    journal = Path(stage.home, ".local/state/anyhook/journal.jsonl")
    lines = journal.read_text().splitlines() if journal.exists() else []
    return [record for line in lines if "event" in (record := json.loads(line))]


def replace_entry(home: str, command: str) -> None:
    """Replace our command by another in every file that names it: in a command line, or in a module's list."""
    changes = {f"{ANYHOOK} bridge": f"{command} bridge", f'["{ANYHOOK}"': f'["{command}"'}
    for path in Path(home).rglob("*"):
        text = path.read_text(errors="replace") if path.is_file() else ""
        if any(ours in text for ours in changes):
            for ours, other in changes.items():
                text = text.replace(ours, other)
            path.write_text(text)


def attempt(agent: str, trial: Trial) -> tuple[dict[tuple[str, str], str], Played]:
    """The result of each effect of a trial."""
    hooks = {**trial.hooks, **borrowed(agent, trial.borrowed)}
    played = play(agent, hooks, trial.steps, trial.prompt, scenario=trial.scenario)
    evidence = played.evidence
    happened = evidence.fired | ({SUB_AGENTS} if evidence.told(SUB) else frozenset())
    found = {}
    for (event, effect), look in trial.looks.items():
        found[event, effect] = look(evidence) if event in happened else NOT_FIRED
    return found, played
