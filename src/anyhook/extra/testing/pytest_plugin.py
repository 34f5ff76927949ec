"""The pytest plugin: the fixtures `anyhook_hook` and `anyhook_events`, and case files as tests. Everything is imported
on first use, so runs that use neither pay nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Protocol, Unpack

import pytest

from anyhook.extra.testing.kit import is_case_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from anyhook.extra.testing.kit.events import Events
    from anyhook.extra.testing.kit.harness import Harness, HarnessOptions

    class LoadHook(Protocol):
        """The type of the fixture `anyhook_hook`."""

        def __call__(
            self,
            *hooks: str,
            project: str | os.PathLike[str] | None = None,
            **options: Unpack[HarnessOptions],
        ) -> Harness: ...


OR_ALL = "If no one approves hooks, as in CI: pytest --anyhook-trust=all"


@pytest.fixture
def anyhook_hook(request: pytest.FixtureRequest) -> Iterator[LoadHook]:
    """Loads a project's hooks, or the named ones, into a temporary copy of the project (default: pytest's root
    directory). The copy is deleted after the test."""
    from anyhook.extra.testing.kit.harness import Harness

    opened: list[Harness] = []

    def load(*hooks: str, project: str | os.PathLike[str] | None = None, **options: Unpack[HarnessOptions]) -> Harness:
        __tracebackhide__ = True
        harness = Harness(request.config.rootpath if project is None else project, hooks, **options)
        opened.append(harness)
        harness.tell = lambda text: request.node.add_report_section("call", "anyhook", text)
        return harness

    yield load
    for harness in opened:
        harness.close()


@pytest.fixture
def anyhook_events() -> Events:
    """Events of every dialect and every agent: `anyhook_events.dialects.NAME.EVENT(…)`, `….agents.NAME.EVENT(…)`."""
    from anyhook.extra.testing.kit.events import Events

    return Events()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("anyhook").addoption(
        "--anyhook-trust",
        choices=("ask", "all"),
        default="ask",
        help="all: also case files and hooks that `anyhook trust` never approved, as in CI.",
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    return CaseFile.from_parent(parent, path=file_path) if is_case_file(file_path.name) else None


class CaseFile(pytest.File):
    """A file of cases, each of them a test."""

    def collect(self) -> Iterator[pytest.Item]:
        from anyhook.extra.testing.kit.approval import not_approved, standing
        from anyhook.extra.testing.kit.cases import BadCases, read_cases
        from anyhook.extra.testing.kit.sandbox import CannotRun, project_for
        from anyhook.gates.review import APPROVED

        file, folder, refused = str(self.path), str(self.config.rootpath), ""
        try:
            cases = read_cases(file)
            if self.config.getoption("--anyhook-trust") != "all":
                found = standing(file, cases, None, os.environ)
                refused = "" if found.status == APPROVED else f"{not_approved(file, found)}. {OR_ALL}"
                folder = found.folder or folder
            project = project_for(file, cases[0].project if cases else "", folder)
        except (BadCases, CannotRun) as error:
            raise self.CollectError(str(error)) from None
        for case in cases:
            yield CaseItem.from_parent(self, name=case.name, run=case, project=project, refused=refused)


class CaseItem(pytest.Item):
    """One case."""

    def __init__(self, *, run: object, project: str, refused: str, **more: Any) -> None:
        super().__init__(**more)
        self._case, self._project, self._refused = run, project, refused

    def runtest(self) -> None:
        from anyhook.extra.testing.kit.cases import Case
        from anyhook.extra.testing.kit.run import run_case

        assert isinstance(self._case, Case)  # noqa: S101 (made by the file above)
        if self._case.skip:
            pytest.skip(self._case.skip)
        if self._refused:
            raise CaseFailed(self._refused)
        found = run_case(self._case, self._project, str(self.config.getoption("--anyhook-trust"))).failures
        if found:
            raise CaseFailed("\n".join(found))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:
        if isinstance(excinfo.value, CaseFailed):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        from anyhook.extra.testing.kit.cases import Case

        line = self._case.line - 1 if isinstance(self._case, Case) else None
        return self.path, line, self.name


class CaseFailed(Exception):  # noqa: N818 (it says what happened)
    """What was not as expected."""
