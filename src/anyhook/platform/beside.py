"""Hooks that run in parallel, without a thread for each process. Waiting for one of them moves the bytes of all, notes
which have ended, and kills those whose time is up."""

from __future__ import annotations

import select
from time import monotonic

from anyhook.model.call import Run
from anyhook.platform.child import Child

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from anyhook.handlers import Waitable


def watched(started: Sequence[Waitable | Run]) -> list[Waitable | Run]:
    """The same hooks, ready to be waited for one after the other. If one is not a process, all but the first get a
    thread."""
    running = [each for each in started if not isinstance(each, Run)]
    children = [each for each in running if isinstance(each, Child) and each.pidfd >= 0]
    if len(children) == len(running):
        watch_together(children)
        return [*started]
    from anyhook.platform.watcher import Watched

    return [each if isinstance(each, Run) or each is running[0] else Watched(each) for each in started]


def watch_together(children: Sequence[Child]) -> None:
    """From here on, waiting for one of them also serves the others. One thread at a time may wait."""
    poll, owners = select.poll(), dict[int, Child]()
    for child in children:
        child.watch_with(SharedPoll(child, poll, owners))


class SharedPoll:
    """One child's view of a poll that all of them share. The child uses it like a `select.poll`."""

    def __init__(self, child: Child, poll: select.poll, owners: dict[int, Child]) -> None:
        self._child, self._poll, self._owners = child, poll, owners

    def register(self, descriptor: int, events: int) -> None:
        self._poll.register(descriptor, events)
        self._owners[descriptor] = self._child

    def unregister(self, descriptor: int) -> None:
        self._poll.unregister(descriptor)
        del self._owners[descriptor]

    def close(self) -> None:
        """Called when the child is done, before its descriptors are closed."""
        for descriptor in [each for each, owner in self._owners.items() if owner is self._child]:
            self.unregister(descriptor)

    def _others(self) -> set[Child]:
        """Children that have neither ended nor been killed."""
        return {owner for owner in self._owners.values() if owner is not self._child and owner.ending is None}

    def poll(self, pause_ms: float) -> list[tuple[int, int]]:
        """Wait for this child's descriptors, and serve the others in the meantime."""
        until = monotonic() + pause_ms / 1000
        while True:
            next_s = min([until, *[other.deadline for other in self._others()]])
            own: list[tuple[int, int]] = []
            for descriptor, event in self._poll.poll(max(next_s - monotonic(), 0.0) * 1000):
                owner = self._owners.get(descriptor)  # a child that has ended by now has closed its descriptors
                if owner is self._child:
                    own.append((descriptor, event))
                elif owner is not None and owner.attend(descriptor):
                    owner.conclude()
            now = monotonic()
            for other in self._others():
                if other.deadline <= now:
                    other.end("timed_out")
            if own or now >= until:
                return own
