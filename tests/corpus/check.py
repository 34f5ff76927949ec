"""Makes every call of the corpus again and reports which answers differ.

    python tests/corpus/check.py [--sample] [--workers N] [WORD…]

With words, only cases that have one of them in their id or in the name of what they read (`.cut`). Exit status 0 if
every answer is the recorded one, apart from our wording, and 1 otherwise.
"""

from __future__ import annotations

import argparse
import sys

from corpus_box import about, answers, differences, load, sample


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Compare the command's answers with the recorded ones.")
    parser.add_argument("--sample", action="store_true", help="only some cases of every dialect and host")
    parser.add_argument("--workers", type=int, default=0, help="calls at once; default: one more than there are cores")
    parser.add_argument("words", nargs="*", help="only cases with one of these in their id or payload's name")
    options = parser.parse_args(argv)
    inputs, cases = load()
    if options.sample:
        cases = sample(cases)
    cases = [case for case in cases if about(case, options.words)]
    if not cases:
        sys.stderr.write("no such case\n")
        return 1
    found = [
        differences(case, answer) for case, answer in zip(cases, answers(inputs, cases, options.workers), strict=True)
    ]
    different = [lines for lines in found if lines]
    sys.stdout.write("".join(f"{line}\n" for lines in different for line in lines))
    sys.stdout.write(f"{len(cases) - len(different)} the same, {len(different)} different\n")
    return 1 if different else 0


if __name__ == "__main__":
    raise SystemExit(main())
