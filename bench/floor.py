"""The floor F: the cheapest way for Python to run the cheapest hook, without anyhook."""

from __future__ import annotations

import os
import select
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
ANSWER_SIZE = 54


def build(folder: Path | None = None) -> tuple[str, str]:
    """Compile `floor.c`; the program's path, and how it is linked (`dynamic` makes every ratio to F too kind)."""
    folder = folder or HERE / "out"
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "floor"
    source = str(HERE / "floor.c")
    for how, command in (
        ("static", ["cc", "-O2", "-static"]),
        ("static, musl", ["musl-gcc", "-O2", "-static"]),
        ("dynamic", ["cc", "-O2"]),
    ):
        try:
            done = subprocess.run([*command, "-o", str(program), source], capture_output=True, check=False)
        except FileNotFoundError:
            continue
        if done.returncode == 0:
            return str(program), how
    raise SystemExit("bench: no C compiler could build floor.c (tried cc and musl-gcc)")


def floor(program: str, stdin: bytes, env: dict[str, str]) -> bytes:
    """Three pipes, `posix_spawn`, `poll`, `waitpid`: no limit, no group, no directory, nothing to go wrong."""
    stdin_end, feed = os.pipe()
    out, stdout_end = os.pipe()
    err, stderr_end = os.pipe()
    dup = os.POSIX_SPAWN_DUP2
    actions = [(dup, stdin_end, 0), (dup, stdout_end, 1), (dup, stderr_end, 2)]
    pid = os.posix_spawn(program, [program], env, file_actions=actions)
    os.close(stdin_end)
    os.close(stdout_end)
    os.close(stderr_end)
    os.write(feed, stdin)
    os.close(feed)
    poll = select.poll()
    poll.register(out, select.POLLIN)
    poll.register(err, select.POLLIN)
    answer = b""
    streams = 2
    while streams:
        for fd, _ in poll.poll():
            data = os.read(fd, 65536)
            if data:
                answer += data
            else:
                poll.unregister(fd)
                os.close(fd)
                streams -= 1
    os.waitpid(pid, 0)
    return answer
