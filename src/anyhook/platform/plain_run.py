"""A hook's process on a system where pipes and processes cannot be waited for together (Windows): started and waited
for with `subprocess` alone. What a hook leaves running there is not found. Not run on such a system yet."""

from __future__ import annotations

from subprocess import PIPE, Popen, TimeoutExpired
from time import monotonic, time_ns
from typing import TYPE_CHECKING

from anyhook.model.call import Run
from anyhook.platform.child import OUTPUT_LIMIT
from anyhook.platform.start_failure import explain_failure

if TYPE_CHECKING:
    from anyhook.model.call import Call
    from anyhook.model.words import Ending

AFTER_KILL_S = 1.0
"""How long the output of a process that was killed may take to end."""


def plain_run(call: Call, stdin: bytes) -> Run:
    """Run it to its end, or to its limit."""
    began_ns, began_s = time_ns(), monotonic()

    def ended(ending: Ending, status: int | None, out: bytes, err: bytes, why: str | None = None) -> Run:
        return Run(ending, status, out[:OUTPUT_LIMIT], err[:OUTPUT_LIMIT], began_ns, monotonic() - began_s, why)

    try:
        child = Popen(call.argv, stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd=call.cwd, env=call.env)
    except (OSError, ValueError) as error:
        return ended("not_started", None, b"", b"", explain_failure(call, call.argv[0] if call.argv else None, error))
    with child:
        try:
            out, err = child.communicate(stdin, timeout=call.limit_s)
        except TimeoutExpired:
            child.kill()
            try:
                out, err = child.communicate(timeout=AFTER_KILL_S)
            except TimeoutExpired as late:
                for stream in (child.stdin, child.stdout, child.stderr):
                    if stream is not None:
                        stream.close()
                out, err = late.stdout or b"", late.stderr or b""
            return ended("timed_out", child.returncode, out, err)
    if max(len(out), len(err)) > OUTPUT_LIMIT:
        return ended("overflowed", child.returncode, out, err)
    return ended("signalled" if child.returncode < 0 else "exited", child.returncode, out, err)
