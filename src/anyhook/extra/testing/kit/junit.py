"""Results as JUnit XML, which build servers read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as Xml

from anyhook.extra.testing.kit.run import FAILED, SKIPPED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anyhook.extra.testing.kit.run import Result

FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot contain."""


def junit(results: Sequence[Result]) -> bytes:
    """One suite per file."""
    root = Xml.Element("testsuites", name="anyhook test")
    files = dict.fromkeys(result.case.file for result in results)
    for file in files:
        mine = [result for result in results if result.case.file == file]
        suite = Xml.SubElement(root, "testsuite", {"name": file, **_counts(mine)})
        for result in mine:
            _add(suite, result)
    for name, value in _counts(results).items():
        root.set(name, value)
    Xml.indent(root)
    text: bytes = Xml.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _counts(results: Sequence[Result]) -> dict[str, str]:
    return {
        "tests": str(len(results)),
        "failures": str(sum(result.status == FAILED for result in results)),
        "errors": "0",
        "skipped": str(sum(result.status == SKIPPED for result in results)),
        "time": f"{sum(result.seconds for result in results):.3f}",
    }


def _add(suite: Xml.Element, result: Result) -> None:
    case = result.case
    made = Xml.SubElement(
        suite, "testcase", name=_clean(case.name), classname=case.file, file=case.file, line=str(case.line),
        time=f"{result.seconds:.3f}",
    )  # fmt: skip
    if result.status == FAILED:
        failure = Xml.SubElement(made, "failure", message=_clean(result.failures[0].split("\n", 1)[0]))
        failure.text = _clean("\n".join(result.failures))
    elif result.status == SKIPPED:
        Xml.SubElement(made, "skipped", message=_clean(case.skip))


def _clean(text: str) -> str:
    return FORBIDDEN.sub("�", text)
