"""Starting a server in the background. An agent waits for the call that does this, so it imports little."""

from __future__ import annotations

import fcntl
import os
import sys
from time import time

from anyhook.extra.warm.place import OTHER_FILES, SCRIPTS, SEEN, given_env, read_at_start, socket_path
from anyhook.platform.launched import own_python
from anyhook.platform.places import private_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FORGET_S = 600.0
"""How long a first call from new surroundings is remembered."""
RETRY_S = 60.0
"""How long to wait before the next try after a server could not start."""


def is_worth(env: Mapping[str, str]) -> bool:
    """Whether a server would probably get more calls. If others run, that is so at the second call from the same
    surroundings: some agents may have a new sandbox for each call."""
    folder, own = os.path.split(socket_path(env))
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return True
    ours = [name for name in names if name.startswith(own.partition("-")[0]) and not name.endswith(OTHER_FILES)]
    if not ours or own in ours:  # in its own place there may be what a killed one has left
        return True
    if f"{own}{SEEN}" in names:
        os.unlink(f"{folder}/{own}{SEEN}")
        return True
    for name in names:
        if name.endswith(SEEN) and time() - os.stat(f"{folder}/{name}").st_mtime > FORGET_S:
            os.unlink(f"{folder}/{name}")
    os.close(os.open(f"{folder}/{own}{SEEN}", os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    return False


def start_server(env: Mapping[str, str]) -> None:
    """Start one in the background, unless one is running or starting. Its lock shows that."""
    path = socket_path(env)
    private_dir(env)
    lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    nowhere = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        seen = os.fstat(lock)
        if seen.st_size and time() - seen.st_mtime < RETRY_S:
            return  # the last one exited before it could serve
        os.pwrite(lock, b"starting", 0)
        _spawn(path, lock, nowhere)
    except BlockingIOError:
        return
    finally:
        os.close(lock)
        os.close(nowhere)


def _spawn(path: str, lock: int, nowhere: int) -> None:
    """Start it like the command itself, with the few variables that affect how Python starts and nothing else from this
    call. In a terminal it stays in that session, otherwise it gets its own."""
    given = given_env()
    names = (b"HOME", b"PATH", b"XDG_STATE_HOME", b"XDG_RUNTIME_DIR")
    env = {**{name: given[name] for name in names if name in given}, **read_at_start(given)}
    script = os.path.realpath(sys.argv[0])
    interpreter, flag = own_python()
    command = [flag, script] if os.path.basename(script) in SCRIPTS else [flag, "-m", "anyhook"]
    dup = os.POSIX_SPAWN_DUP2
    alone = {"setsid": True} if "." not in os.path.basename(path) else {"setpgroup": 0}
    for name in os.listdir("/proc/self/fd"):  # someone may wait for the end of a pipe that we inherited
        try:
            if int(name) > 2:
                os.set_inheritable(int(name), False)
        except OSError:
            continue  # the descriptor of the listing itself is closed by now
    here_dir = os.open(".", os.O_RDONLY | os.O_CLOEXEC)
    os.chdir("/")
    try:
        pid = os.posix_spawn(
            interpreter,
            [interpreter, *command, "--warm-serve", path, "3"],
            env,
            file_actions=[(dup, nowhere, 0), (dup, nowhere, 1), (dup, nowhere, 2), (dup, lock, 3)],
            setsigdef=[13, 25],
            **alone,
        )
        started = sys.modules.get("anyhook.platform.spawn")  # only if hooks may still run
        if started is not None:
            started.here.spared.add(pid)
    finally:
        os.fchdir(here_dir)
        os.close(here_dir)
