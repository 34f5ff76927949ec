"""`anyhook convert`: a project's hooks of one dialect as files of another, with a proof that they decide the same."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from anyhook.cli.failure import DONE, FINDINGS, BadCall
from anyhook.cli.fire import project_of
from anyhook.cli.options import JsonOptions, option
from anyhook.cli.verbs import check_dialects, verb
from anyhook.cli.view import render
from anyhook.state.plans import Setup
from anyhook.tables.registry import dialect
from anyhook.testing.convert.convert import convert as convert_one
from anyhook.walk.build import build

if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.testing.convert.convert import Converted


class ConvertOptions(JsonOptions):
    project: str | None = option("--project", "The project directory; default: the current one.", "DIR")
    from_: str | None = option("--from", "The dialect that the hooks are written in.", "DIALECT")
    to: str | None = option("--to", "The dialect to write them in.", "DIALECT")
    out: str | None = option("--out", "Where to write them; default: the project.", "DIR")


@verb("convert", ConvertOptions, "anyhook convert --from claude --to kodik --out ported")
def convert(options: ConvertOptions) -> int:
    """Write a project's hooks of one dialect in another, and prove that they decide the same.

    Each hook becomes a script of the new dialect that runs the old command with the old payload and translates its
    answer. Both are then asked about the same events. Approved hooks are run for that; others are only written.
    Existing files keep everything they hold.

    \b
    Exit status: 0 every hook decides the same, 1 something differs or is lost, 3 bad call.
    """
    source, target = options.from_, options.to
    if not source or not target or source == target:
        raise BadCall("name two dialects: --from DIALECT --to DIALECT.")
    check_dialects((source, target))
    project = project_of(options.project)
    out = options.out or project
    try:
        os.makedirs(out, exist_ok=True)
    except OSError as error:
        raise BadCall(f"--out {out}: {error.strerror}. Name a folder that can be written.") from None
    setup = Setup.of(project, dict(os.environ), (source,))
    catalog = build(setup, may_start=False).with_lines()
    hooks = [hook for hook in catalog.hooks if hook.scope == "project"]
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
    for line in render.problem_lines(catalog.problems):
        render.say(line)
    return DONE if all(one.whole for one in done) else FINDINGS


def _say(one: Converted) -> None:
    total = one.same + one.different
    render.out(f"{one.id}: {f'same decision on {one.same} of {total} events' if total else 'not compared'}")
    for path in one.files:
        render.out(f"  wrote {render.short_path(path)}")
    for loss in one.lost:
        render.out(f"  lost: {loss.what}: {loss.why}")
