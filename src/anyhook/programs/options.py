"""A table of options with which programs write files that are easy to overlook: reports, logs, profiles, build results.
Each row is written like the options of `sort_options`: letters, then names, separated by spaces."""

from __future__ import annotations

from anyhook.facts.options import sort_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.facts.collect import Collector
    from anyhook.shell.program import Program

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
