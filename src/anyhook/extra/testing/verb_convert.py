"""`anyhook convert`: convert a project's hooks to another dialect, and compare their decisions."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from anyhook.agents._rulesync import NAME as RULESYNC
from anyhook.agents._rulesync import rulesync_hooks
from anyhook.cli import DONE, FINDINGS, BadCall, render
from anyhook.cli.fire import project_of
from anyhook.cli.options import JsonOptions, option
from anyhook.cli.verbs import check_dialects, verb
from anyhook.documents.files import Files
from anyhook.engine.cases import program_of
from anyhook.engine.catalog import build
from anyhook.engine.present import own_scene
from anyhook.extra.testing.convert.convert import convert as convert_one
from anyhook.model.event import Event
from anyhook.model.hook import ARMED, UNTRUSTED
from anyhook.state.plans import Setup
from anyhook.tables.registry import dialect
from anyhook.tables.rows import Scene

if TYPE_CHECKING:
    from anyhook.extra.testing.convert.convert import Converted
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json
    from anyhook.model.problem import Problem


class ConvertOptions(JsonOptions):
    project: str | None = option("--project", "The project directory; default: the current one.", "DIR")
    from_: str | None = option("--from", "The dialect that the hooks are written in, or `rulesync`.", "DIALECT")
    to: str | None = option("--to", "The dialect to write them in.", "DIALECT")
    out: str | None = option("--out", "Where to write them; default: the project.", "DIR")


@verb("convert", ConvertOptions, "anyhook convert --from claude --to kodik --out ported")
def convert(options: ConvertOptions) -> int:
    """Convert a project's hooks from one dialect to another, and prove that they decide the same.

    Each hook becomes a script for the new dialect that runs the old command with the old payload and translates its
    answer. Both then get the same events. Only approved hooks run for that; others are only written. Existing files
    keep their content. `--from rulesync` reads `.rulesync/hooks.json`, from which rulesync writes the files of many
    agents.

    \b
    Exit status: 0 every hook decides the same, 1 something differs or is lost, 3 bad call.
    """
    source, target = _named(options)
    project = project_of(options.project)
    out = options.out or project
    try:
        os.makedirs(out, exist_ok=True)
    except OSError as error:
        raise BadCall(f"--out {out}: {error.strerror}. Name a folder that can be written.") from None
    setup, hooks, problems = _of_rulesync(project) if source == RULESYNC else _of_dialect(source, project)
    taken: set[str] = set()
    done = [convert_one(hook, setup, dialect(target), os.path.realpath(out), taken) for hook in hooks]
    if options.json:
        listed: list[Json] = [one.as_dict() for one in done]
        render.json_out({"hooks": listed}, indent=2)
    else:
        for one in done:
            _say(one)
        if not done:
            render.say(f"This project has no {source} hooks.")
    for line in render.problem_lines(problems):
        render.say(line)
    return DONE if all(one.whole for one in done) else FINDINGS


def _named(options: ConvertOptions) -> tuple[str, str]:
    """The two dialects."""
    source, target = options.from_, options.to
    if not source or not target or source == target:
        raise BadCall("name two dialects: --from DIALECT --to DIALECT.")
    check_dialects((target,) if source == RULESYNC else (source, target))
    return source, target


def _of_dialect(source: str, project: str) -> tuple[Setup, list[Hook], list[Problem]]:
    setup = Setup.of(project, dict(os.environ), (source,))
    catalog = build(setup, may_start=False).with_lines()
    return setup, [hook for hook in catalog.hooks if hook.scope == "project"], catalog.problems


def _of_rulesync(project: str) -> tuple[Setup, list[Hook], list[Problem]]:
    """The hooks of rulesync's source file. Only hook files of agents can be approved, so such a hook counts as approved
    if the project has an approved hook that runs the same command on the same event."""
    files = Files()
    setup = Setup.of(project, dict(os.environ))
    found = rulesync_hooks(setup.project, files)
    armed = {key for hook in build(setup, may_start=False).hooks if hook.status == ARMED for key in _runs(hook, setup)}
    hooks = [hook if armed & _runs(hook, setup) else hook.replace(status=UNTRUSTED) for hook in found]
    return setup, hooks, files.problems


def _runs(hook: Hook, setup: Setup) -> set[tuple[str, tuple[str, ...]]]:
    """The events of a command hook, each with the program that it runs."""
    if hook.handler != "command" or not hook.native_event:
        return set()
    scene = Scene(Event(hook.events[0], {}), hook.native_event, setup.project, "", setup.env, {})
    program = program_of(dialect(hook.dialect).launch(hook, own_scene(hook, scene)), setup.env)
    return {(event, program) for event in hook.events}


def _say(one: Converted) -> None:
    total = one.same + one.different
    render.out(f"{one.id}: {f'same decision on {one.same} of {total} events' if total else 'not compared'}")
    for path in one.files:
        render.out(f"  wrote {render.short_path(path)}")
    for loss in one.lost:
        render.out(f"  lost: {loss.what}: {loss.why}")
