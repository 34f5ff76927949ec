"""Prints how much of each room (`src/anyhook/*`) the tests of `make coverage` reached."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import coverage

ROOM = "src/anyhook"


def main() -> int:
    data = coverage.Coverage()
    data.combine()
    data.save()
    data.load()
    lines: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    base = Path(ROOM).resolve()
    for path in sorted(base.rglob("*.py")):
        room = path.relative_to(base).parts[0]
        _, statements, _, missing, _ = data.analysis2(str(path))
        lines[room] += len(statements)
        missed[room] += len(missing)
    rows = [(f"{ROOM}/{room}", lines[room], missed[room]) for room in lines]
    rows.append(("all", sum(lines.values()), sum(missed.values())))
    sys.stdout.write(f"{'room':32}{'statements':>12}{'missed':>10}{'reached':>10}\n")
    for name, count, left in rows:
        sys.stdout.write(f"{name:32}{count:12}{left:10}{100 * (count - left) / max(count, 1):9.1f}%\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
