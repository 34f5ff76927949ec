"""Reads lines that nobody wrote, for failures and for time: `python tests/programs/fuzz.py [MINUTES]`. They are made
from the lines of the corpora: cut, joined, repeated, put into one another, with signs of the shell in between. It
reports each kind of failure once with a line as short as possible, and the line that took most time for its length."""

from __future__ import annotations

import random
import resource
import sys
import tempfile
import time
from pathlib import Path

from anyhook.programs.facts import Facts
from anyhook.rules.calls import facts_of

sys.path.insert(0, str(Path(__file__).parent.parent / "guards"))
from guard_corpus import HOME, KINDS, PROJECT, commands

SIGNS = (
    *"\n;&|()<>{}[]$`'\"\\*?!#~=-,:%^@ \t\r\0é", "$(", "$((", "))", "${", "<<", "<<-", "<<<", "<(", ">(", "&&", "||",
    ">>", "&>", "[[", "]]", "$'", '$"', "\\\n", "<<'E'\n", "\nE\n", "if ", "then ", "fi;", "for i in ", "do ", "done;",
    "case x in ", "esac", "f() {", "}; f", "eval ", "sudo ", "xargs ", "bash -c ", "ssh h ", "a=", "export ", "| sh",
    "python3 -c ",
)  # fmt: skip
MAX_LINE = 20_000
MAX_BYTES = 2 << 30
"""Of memory."""
SLOW_S = 2.0
"""Of processor time, for a line of at most `MAX_LINE` characters."""


def mutated(rng: random.Random, lines: list[str]) -> str:
    text = rng.choice(lines)
    for _ in range(rng.randint(1, 6)):
        at, other = rng.randint(0, len(text)), rng.choice(lines)
        match rng.randint(0, 6):
            case 0:
                text = text[:at] + rng.choice(SIGNS) + text[at:]
            case 1:
                text = text[:at] + text[at + rng.randint(1, 8) :]
            case 2:
                text = text[:at] + other + text[at:]
            case 3:
                text = text[:at] + other[: rng.randint(0, len(other))]
            case 4:
                text += rng.choice(SIGNS) * rng.choice((1, 2, 30))
            case 5:
                text = rng.choice(("$(", "`", '"', "bash -c '", "(", "{ ", "ssh h '")) + text + rng.choice(")`\"' }")
            case _:
                text = (text[at : at + 40] or ";") * rng.choice((2, 20, 200))
    return text[:MAX_LINE]


def facts(line: str) -> Facts:
    return facts_of("Bash", {"command": line}, cwd=PROJECT, home=HOME, project=None)


def failure(line: str) -> str:
    """The kind of failure, "" for none: facts never raise, and say what went wrong."""
    return next((each for each in facts(line).unread if "Error" in each and "while reading" in each), "")


def shortest(line: str, kind: str) -> str:
    size = max(len(line) // 2, 1)
    while size:
        at = 0
        while at < len(line):
            shorter = line[:at] + line[at + size :]
            if failure(shorter) == kind:
                line = shorter
            else:
                at += size
        size //= 2
    return line


def main() -> int:
    minutes = float(sys.argv[1]) if sys.argv[1:] else 60.0
    seed = random.randrange(1 << 32)
    rng, lines = random.Random(seed), [each.text for kind in KINDS for each in commands(kind)]
    kinds: set[str] = set()
    slow, read, worst = 0, 0, (0.0, "")
    last = Path(tempfile.gettempdir()) / f"fuzz-{seed}"
    print(f"seed {seed}; the line that is being read is in {last}", flush=True)  # noqa: T201
    resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
    end = time.monotonic() + minutes * 60
    while time.monotonic() < end:
        line = mutated(rng, lines)
        last.write_text(line, errors="replace")
        began = time.process_time()
        kind = failure(line)
        took = time.process_time() - began
        read += 1
        worst = max(worst, (took / (len(line) + 200), line))
        if kind and kind not in kinds:
            kinds.add(kind)
            print(f"{kind}\n    {shortest(line, kind)!r}", flush=True)  # noqa: T201
        if took > SLOW_S:
            slow += 1
            print(f"{took:.1f} s of processor time for {len(line)} characters\n    {line[:400]!r}", flush=True)  # noqa: T201
    print(f"seed {seed}: {read:,} lines, {len(kinds)} kinds of failures, {slow} slow lines", flush=True)  # noqa: T201
    print(f"the slowest for its length: {worst[0] * 1e6:.0f} µs per character\n    {worst[1][:400]!r}")  # noqa: T201
    return 1 if kinds or slow else 0


if __name__ == "__main__":
    sys.exit(main())
