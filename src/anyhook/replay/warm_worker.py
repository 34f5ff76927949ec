"""A long-lived interpreter that runs Python hooks one after the other, as if each had its own process. It is a separate
program: it is started with the hook's own interpreter, and imports nothing from anyhook unless a callable is asked for.

It prints "ready", reads lists of tasks from stdin, and answers each task separately: (exit status, stdout, stderr,
seconds). What it cannot capture (other processes' output, exits of the whole process) shows in the samples that also
run cold."""

from __future__ import annotations

import io
import marshal
import os
import sys
import time
from typing import BinaryIO


def main() -> None:
    tasks, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    if sys.path and sys.path[0] == os.path.dirname(os.path.abspath(__file__)):
        del sys.path[0]  # a hook must not import our modules instead of its own
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    tell("ready", answers)
    home = os.getcwd()
    code_of: dict[str, object] = {}
    while True:
        try:
            batch = marshal.load(tasks)  # noqa: S302 (from the process that started us)
        except EOFError:
            return
        for task in batch:
            tell(run_one(task, code_of, home), answers)


def tell(answer: object, answers: BinaryIO) -> None:
    """Write the length first: that is much faster to read than a value whose end must be found."""
    data = marshal.dumps(answer)  # type: ignore[arg-type]
    answers.write(len(data).to_bytes(4, "little") + data)
    answers.flush()


class KeptBuffer(io.BytesIO):
    """Keeps what was written, even after the writer closes it."""

    def close(self) -> None:
        return


def run_one(task: tuple[object, ...], code_of: dict[str, object], home: str) -> tuple[int, bytes, bytes, float]:
    kind, *rest = task
    stdout, stderr = KeptBuffer(), KeptBuffer()
    kept = sys.stdin, sys.stdout, sys.stderr, sys.argv, sys.path[:]
    sys.stdout = io.TextIOWrapper(stdout, "utf-8", "surrogateescape", write_through=True)
    sys.stderr = io.TextIOWrapper(stderr, "utf-8", "backslashreplace", write_through=True)
    begun = time.perf_counter()
    status = 0
    try:
        if kind == "script":
            script(*rest, code_of)  # type: ignore[call-arg, arg-type]
        else:
            sys.stdout = sys.stderr  # what a callable prints is not its answer
            stdout.write(callable_answer(*rest))  # type: ignore[arg-type]
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
    except BaseException as error:  # noqa: BLE001 (whatever a hook raises is its own failure)
        status = 1
        failure(kind, error)
    took = time.perf_counter() - begun
    sys.stdin, sys.stdout, sys.stderr, sys.argv, sys.path[:] = kept
    if os.getcwd() != home:
        os.chdir(home)
    return status & 0xFF, stdout.getvalue(), stderr.getvalue(), took


def failure(kind: object, error: BaseException) -> None:
    if kind == "script":
        import traceback

        traceback.print_exception(type(error), error, error.__traceback__.tb_next.tb_next)  # type: ignore[union-attr]
    else:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")


def script(path: str, arguments: tuple[str, ...], stdin: bytes, code_of: dict[str, object]) -> None:
    """Run it like `python PATH ARGUMENTS`: with the same names and the same import path."""
    code = code_of.get(path)
    if code is None:
        with open(path, "rb") as file:
            code = code_of[path] = compile(file.read(), path, "exec")
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), "utf-8", "surrogateescape")
    sys.argv = [path, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    exec(code, {"__name__": "__main__", "__file__": path, "__builtins__": __builtins__})  # type: ignore[arg-type] # noqa: S102


def callable_answer(
    api: str, target: str, own: str | None, native: str, project: str, session: str, payload: bytes
) -> bytes:
    from anyhook.handlers.python import answer_of
    from anyhook.model.event import Event
    from anyhook.tables.rows import Scene

    return answer_of(api, target, own, Scene(Event("stop", {}), native, project, session, {}, {}), payload)


if __name__ == "__main__":
    main()
