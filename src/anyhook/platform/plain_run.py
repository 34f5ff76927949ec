"""A hook's process on a system where pipes and processes cannot be waited for together (Windows): it is run like any
other program. What a hook leaves running there is not found. Not run on such a system yet."""

from __future__ import annotations

from time import monotonic, time_ns

from anyhook.model.call import Call, Run
from anyhook.model.words import Ending
from anyhook.platform.child import OUTPUT_LIMIT
from anyhook.platform.other_programs import ProgramAnswer, run_to_end
from anyhook.platform.start_failure import explain_failure


def plain_run(call: Call, stdin: bytes) -> Run:
    """Run it to its end, or to its limit."""
    began_ns, began_s, why = time_ns(), monotonic(), None
    ending: Ending = "exited"
    try:
        done = run_to_end(call.argv, call.limit_s, stdin=stdin, env=call.env, cwd=call.cwd)
    except OSError as error:
        ending, done = "not_started", ProgramAnswer(0, b"", b"")
        told = error if error.errno else ValueError(str(error))  # a text that no process can be given
        why = explain_failure(call, call.argv[0] if call.argv else None, told)
    if done.timed_out:
        ending = "timed_out"
    elif max(len(done.out), len(done.err)) > OUTPUT_LIMIT:
        ending = "overflowed"
    elif done.status < 0:
        ending = "signalled"
    status = done.status if ending != "not_started" else None
    taken_s = monotonic() - began_s
    return Run(ending, status, done.out[:OUTPUT_LIMIT], done.err[:OUTPUT_LIMIT], began_ns, taken_s, why)
