"""Hooks that cannot have run, because their shell or interpreter did not find the program or script. Such an exit
status is not an answer (Python's own status for a missing script is 2, which would refuse), so it is a failure. Checked
only after a run that would refuse by its status and printed an error."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.call import Call, Run
    from anyhook.tables.rows import Reply

COMPLAINTS = (
    b"an't open", b"annot open", b"not found", b"o such file", b"ermission denied", b"annot find", b"ormat error",
    b"s a directory", b"bad interpreter",
)  # fmt: skip
"""Parts of the messages of shells and interpreters about a file that they cannot use."""
NOT_FOUND = (126, 127)
"""A shell's exit statuses for a program that it cannot start."""
JOINTS = frozenset("|&;\n")


def unless_never_ran(call: Call, reply: Reply, event: str, run: Run) -> Run:
    """The run; if its program cannot have been started, as one that was not started."""
    reply = reply.on_event.get(event, reply)
    code = run.exit_code
    refuses = code is not None and reply.exits.get(code, reply.otherwise).startswith("block")
    if run.ending != "exited" or not refuses or run.stdout or not any(part in run.stderr for part in COMPLAINTS):
        return run
    line = call.argv[2] if len(call.argv) > 2 and call.argv[1] in ("-c", "-ec", "-lc") else ""
    if JOINTS & set(line) and code not in NOT_FOUND:
        return run  # `guard || exit 2` refuses on purpose
    from anyhook.shell.programs import StartContext, fault_of

    fault = fault_of(call.argv, StartContext(call.env, call.cwd))
    if fault is not None:
        return run.replace(ending="not_started", error=fault.what)
    if line and code in NOT_FOUND:
        said = run.stderr.decode("utf-8", "replace").strip().splitlines()[-1]
        return run.replace(ending="not_started", error=f"its shell could not start a program: {said}")
    return run
