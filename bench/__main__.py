"""`python -m bench [rounds]`: measures the promises, prints them and writes them to bench/out/promises.json."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from bench.promises import all_rows


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measures the promises, as ratios in one run.")
    parser.add_argument("rounds", type=int, nargs="?", default=400, help="how often each is measured; default: 400")
    rows = all_rows(parser.parse_args().rounds)
    print(f"{'promise':44} {'base':36} {'p25':>9} {'p95':>9}  at most")
    for row in rows:
        bound = "" if row.at_most == float("inf") else f"{row.at_most:g} {row.unit}"
        over = "" if row.kept else "  OVER"
        print(f"{row.promise:44} {row.base:36} {row.value:7.2f} {row.unit} {row.p95:7.2f} {row.unit}  {bound}{over}")
    out = Path(__file__).parent / "out" / "promises.json"
    out.parent.mkdir(exist_ok=True)
    kept = [
        {**row._asdict(), "kept": row.kept, "at_most": None if row.at_most == float("inf") else row.at_most}
        for row in rows
    ]
    out.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    print(f"written to {out.relative_to(Path.cwd()) if out.is_relative_to(Path.cwd()) else out}")


main()
