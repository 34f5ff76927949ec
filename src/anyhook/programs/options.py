"""Options of programs: bundles are split, values stay with their option, and the short and the long form have one
name."""

from __future__ import annotations

from anyhook.model.record import Record
from anyhook.programs.program import Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anyhook.programs.collect import Collector
    from anyhook.programs.program import Program


class SortedOptions(Record):
    """The arguments of one program, sorted."""

    named: tuple[tuple[str, Word], ...]
    """Options in order, `-r` or `--recursive`, with their value."""
    rest: tuple[Word, ...]
    """Everything else."""
    after_dashes: tuple[Word, ...] = ()
    """What comes after `--`; it is part of `rest` too."""

    def has(self, *names: str) -> bool:
        return any(name in names for name, _ in self.named)

    def values(self, *names: str) -> list[Word]:
        return [value for name, value in self.named if name in names and value.text]

    @property
    def flags(self) -> frozenset[str]:
        return frozenset(name for name, _ in self.named)


def sort_options(words: Sequence[Word], values: str = "", long: Mapping[str, str] | None = None) -> SortedOptions:
    """Sort the arguments. `values` has the short options that take a value, then long ones, separated by spaces; `long`
    maps short options to long ones."""
    short, _, names = values.partition(" ")
    with_value = frozenset(names.split())
    full = long or {}
    named: list[tuple[str, Word]] = []
    rest: list[Word] = []
    left = list(words)
    while left:
        word = left.pop(0)
        text = word.text
        if text == "--":
            return SortedOptions(tuple(named), (*rest, *left), tuple(left))
        if text.startswith("--"):
            name, sign, value = text.partition("=")
            if sign:
                named.append((name, Word(value, word.source.partition("=")[2], word.globs, word.origins)))
            else:
                named.append((name, left.pop(0) if name[2:] in with_value and left else EMPTY))
        elif text.startswith("-") and len(text) > 1:
            name, sign, value = text.partition("=")
            if name[1:] in with_value and (sign or left):  # `-name value`, as some programs spell it
                named.append((name, Word(value, word.source.partition("=")[2]) if sign else left.pop(0)))
                continue
            for place, letter in enumerate(text[1:], 1):
                name = full.get(letter, f"-{letter}")
                if letter in short:
                    tail = text[place + 1 :]
                    own = Word(tail, word.source[place + 1 :], word.globs)
                    named.append((name, own if tail else left.pop(0) if left else EMPTY))
                    break
                named.append((name, EMPTY))
        else:
            rest.append(word)
    return SortedOptions(tuple(named), tuple(rest))


EMPTY = Word("", "")


# A table of options with which programs write files that are easy to overlook: reports, logs, profiles, build results.
# Each row is written like the options of `sort_options`: letters, then names, separated by spaces.


OUTPUT_OPTIONS: dict[str, str] = {
    # tests and their reports
    "pytest": " junitxml junit-xml report-log html log-file json-report-file basetemp", "jest": " outputFile",
    "vitest": " outputFile", "phpunit": " log-junit coverage-html coverage-clover", "rspec": "o out",
    "robot": "olrd output log report outputdir", "behave": "o outfile junit-directory", "nose2": " junit-xml-path",
    "nosetests": " xunit-file cover-html-dir", "tox": " result-json", "newman": " reporter-json-export",
    "playwright": " output", "allure": "o output", "k6": " out summary-export", "locust": " csv html logfile",
    "coverage": "od data-file", "gcovr": "o output html xml json", "lcov": "o output-file", "nyc": " report-dir",
    # linters and scanners
    "eslint": "o output-file", "stylelint": "o output-file", "ruff": "o output-file", "flake8": " output-file",
    "pylint": " output", "mypy": " junit-xml html-report txt-report xml-report", "bandit": "o output",
    "rubocop": "o out", "semgrep": "o output", "trivy": "o output", "gitleaks": "r report-path", "grype": " file",
    "snyk": " json-file-output sarif-file-output",
    # compilers, bundlers, generators
    "go": " o coverprofile cpuprofile memprofile trace outputdir", "rustc": "o out-dir", "tsc": " outFile outDir",
    "esbuild": " outfile outdir", "rollup": "od file dir", "webpack": "o output-path", "babel": "od out-file out-dir",
    "swc": "od out-file out-dir", "postcss": "od output dir", "javac": " d", "kotlinc": " d",
    "swiftc": " o", "ld": "o output", "as": "o", "strip": "o", "bison": "o output", "flex": "o outfile",
    "dot": "o", "mmdc": "o output", "inkscape": "o export-filename", "asciidoctor": "oD out-file",
    "typedoc": " out json", "jsdoc": "d destination", "hugo": "d destination", "mkdocs": "d site-dir",
    # what was watched
    "strace": "o output", "ltrace": "o output", "perf": "o output", "valgrind": " log-file xml-file",
    "tcpdump": "w", "tshark": "w", "py-spy": "o output", "hyperfine": " export-json export-markdown export-csv",
    "nmap": " oN oX oG oA", "screen": " Logfile", "node": " cpu-prof-dir diagnostic-dir heap-prof-dir",
    # packages, containers, infrastructure
    **dict.fromkeys(("pip", "pip3"), "twd target dest wheel-dir report log prefix root"),
    "pip-compile": "o output-file", "npm": " pack-destination", "docker": " output cidfile iidfile metadata-file",
    "podman": " output cidfile iidfile", "helm": "d destination output-dir", "terraform": " out state-out backup",
    "tofu": " out state-out backup", "syft": " file", "cosign": " output-file output-signature output-certificate",
    # databases and documents
    "pg_dump": "f file", "pg_dumpall": "f file", "mysqldump": "r result-file", "mongodump": "o out archive",
    "mongoexport": "o out", "redis-cli": " rdb", "psql": "oL output log-file", "mysql": " tee", "xmllint": "o output",
    "xsltproc": "o output", "iconv": "o output", "shuf": "o output", "age": "o output",
    "sops": " output", "keytool": " keystore file", "scrapy": "oO output", "yt-dlp": "oP output paths",
    "youtube-dl": "o output", "http": "o output", "https": "o output", "xh": "o output",
    "curl": " etag-save trace trace-ascii stderr hsts alt-svc libcurl", "wget": " warc-file save-cookies",
    "rclone": " log-file", "gh": "OD output dir", "git": " output",
}  # fmt: skip


def look_at_outputs(program: Program, into: Collector) -> None:
    """Add the files that a program writes because of such an option."""
    options = OUTPUT_OPTIONS.get(program.name)
    if options is None or program.remote or not any(word.text[:1] == "-" for word in program.words):
        return
    letters, _, names = options.partition(" ")
    for value in sort_options(program.words, options).values(
        *[f"-{letter}" for letter in letters], *[f"{dash}{name}" for name in names.split() for dash in ("-", "--")]
    ):
        into.write(value, program.cwd)
