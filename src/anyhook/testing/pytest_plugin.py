"""The pytest plugin: the fixtures `anyhook_hook` and `anyhook_events`, and case files as tests. Runs that use neither
pay for nothing: everything is imported when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from anyhook.testing.kit import is_case_file

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Protocol

    from anyhook.model.json_types import Json
    from anyhook.testing.kit.bench import Bench
    from anyhook.testing.kit.events import Events

    class LoadHook(Protocol):
        """What the fixture `anyhook_hook` is."""

        def __call__(
            self,
            *hooks: str,
            project: str | os.PathLike[str] | None = None,
            files: Mapping[str, Json] | None = None,
            home: Mapping[str, Json] | None = None,
            env: Mapping[str, str | None] | None = None,
            bring: Sequence[str] = (),
            dialects: Sequence[str] = (),
            on_failure: str = "",
            mode: str = "",
            limit_s: float = 60.0,
        ) -> Bench: ...


@pytest.fixture
def anyhook_hook(request: pytest.FixtureRequest) -> Iterator[LoadHook]:
    """Loads a project's hooks, or those that are named, into a throw-away copy of the project; default: pytest's root
    directory. The copy goes with the test."""
    from anyhook.testing.kit.bench import Bench

    opened: list[Bench] = []

    def load(*hooks: str, project: str | os.PathLike[str] | None = None, **more: object) -> Bench:
        __tracebackhide__ = True
        bench = Bench(request.config.rootpath if project is None else project, hooks, **more)  # type: ignore[arg-type]
        opened.append(bench)
        bench.tell = lambda text: request.node.add_report_section("call", "anyhook", text)
        return bench

    yield load
    for bench in opened:
        bench.close()


@pytest.fixture
def anyhook_events() -> Events:
    """Events of every dialect and every agent: `anyhook_events.dialects.NAME.EVENT(…)`, `….agents.NAME.EVENT(…)`."""
    from anyhook.testing.kit.events import Events

    return Events()


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    return CaseFile.from_parent(parent, path=file_path) if is_case_file(file_path.name) else None


class CaseFile(pytest.File):
    """A file of cases, each of them a test."""

    def collect(self) -> Iterator[pytest.Item]:
        from anyhook.testing.kit.cases import BadCases, read_cases
        from anyhook.testing.kit.sandbox import NoGround, project_for

        try:
            cases = read_cases(str(self.path))
            project = project_for(str(self.path), cases[0].project, str(self.config.rootpath))
        except (BadCases, NoGround) as error:
            raise self.CollectError(str(error)) from None
        for case in cases:
            yield CaseItem.from_parent(self, name=case.name, run=case, project=project)


class CaseItem(pytest.Item):
    """One case."""

    def __init__(self, *, run: object, project: str, **more: object) -> None:
        super().__init__(**more)  # type: ignore[arg-type]
        self._case, self._project = run, project

    def runtest(self) -> None:
        from anyhook.testing.kit.cases import Case
        from anyhook.testing.kit.run import run_case

        assert isinstance(self._case, Case)  # noqa: S101 (made by the file above)
        if self._case.skip:
            pytest.skip(self._case.skip)
        found = run_case(self._case, self._project).failures
        if found:
            raise CaseFailed("\n".join(found))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:
        if isinstance(excinfo.value, CaseFailed):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        from anyhook.testing.kit.cases import Case

        line = self._case.line - 1 if isinstance(self._case, Case) else None
        return self.path, line, self.name


class CaseFailed(Exception):  # noqa: N818 (it says what happened)
    """What was not as expected."""
