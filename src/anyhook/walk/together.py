"""Together: the hooks of a dialect that runs them in parallel. All are started before the first is waited for; their
answers still count in the order of the queue."""

from __future__ import annotations

from anyhook.model.call import Run
from anyhook.model.firing import HookRun
from anyhook.model.hook import BROKEN
from anyhook.process.beside import watched
from anyhook.walk.merge import posture_of
from anyhook.walk.present import scene_of
from anyhook.walk.routes import match
from anyhook.walk.walk import Prepared

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.walk.walk import Walk


def start_together(walk: Walk, first: int) -> None:
    """Match the hooks of the dialect whose first hook is at this position, and start those that will run, unless one of
    them has to run alone. Waiting for one process serves all of them; handlers of other kinds get a thread each."""
    steps, queue, prepared = walk.route.steps, walk.queue, walk.prepared
    table = steps[first].dialect
    seen: dict[tuple[Json, ...], str] = {}
    ready: list[int] = []
    for position, step in enumerate(steps[first:], first):
        hook, why, failed = step.hook, step.why, ""
        if step.dialect is not table:
            break
        if hook.status == BROKEN or step.closed_because or position in prepared:
            continue
        if why is None:
            why, failed = match(hook, table, step.row, queue.seen, queue.event)
        same_as = ""
        if not why and not failed:
            first_id = seen.setdefault(table.identity(hook), hook.id)
            same_as = first_id if first_id != hook.id else ""
            if not same_as and not hook.background:
                ready.append(position)
        prepared[position] = Prepared((why, failed), same_as)
    if len(ready) < 2 or any(table.in_turn(steps[position].hook) for position in ready):
        return
    started = [walk.start(steps[each], scene_of(walk.context, queue.seen, table, steps[each].row)) for each in ready]
    for position, one, run in zip(ready, started, watched([each.run for each in started]), strict=True):
        prepared[position] = prepared[position].replace(started=one.replace(run=run), seen=queue.seen)


def end_prepared(walk: Walk) -> None:
    """End the hooks that were started but whose turn will not come."""
    for position, prepared in walk.prepared.items():
        if prepared.started is None:
            continue
        hook, started = walk.route.steps[position].hook, prepared.started
        run: Run | None
        if isinstance(started.run, Run):
            run = started.run
        else:
            started.run.end("cancelled")
            run = started.run.wait(None)
        posture = posture_of(walk.context, hook)
        walk.runs.append(HookRun(hook, started.call, posture, started.model, run, "cancelled"))
        walk.report(hook, "ran", run=run)
