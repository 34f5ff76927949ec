"""The arguments of `backtest` → hooks, their trials and the sandbox. It starts no hook."""

from __future__ import annotations

import os
import re
import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from tempfile import gettempdir
from typing import TYPE_CHECKING

import click

from anyhook.cli import BadCall, render
from anyhook.cli.fire import project_of
from anyhook.cli.journal_input import (
    EventFilter,
    FromOption,
    TextFilter,
    count_of,
    folder_of,
    look_for_cycles_seldom,
    wanted_of,
)
from anyhook.cli.known_words import HOOK
from anyhook.cli.options import HookOptions, JsonOptions, PostureOption, TrustOption, option, switch
from anyhook.cli.verbs import of_extra, verb
from anyhook.cli.view.backtest_text import finding_lines, tally_table
from anyhook.cli.view.console import show
from anyhook.cli.view.progress import progress
from anyhook.documents.files import Files
from anyhook.engine.catalog import load, pinned
from anyhook.engine.engine import Engine, EngineOptions, open_engine
from anyhook.engine.hook_names import hooks_meant, likely
from anyhook.engine.match import Catalog, HookStep, match
from anyhook.engine.merge import posture_of
from anyhook.engine.present import own_scene, present, scene_of
from anyhook.engine.routes import open_catalog
from anyhook.engine.rules import Rules, remembering
from anyhook.handlers.function import function_call
from anyhook.journal.machines import journals_of
from anyhook.journal.read import JournalLine
from anyhook.journal.search import Wanted
from anyhook.model import lean_json
from anyhook.model.event import EVENTS, Event
from anyhook.model.hook import Hook, Source
from anyhook.model.json_types import JsonView
from anyhook.model.lean_json import digest, every_text
from anyhook.model.outcome import BLOCK, SILENT
from anyhook.model.record import Record
from anyhook.model.words import Posture
from anyhook.platform.places import home_of, make_private_dir, state_dir
from anyhook.platform.pool import process_pool
from anyhook.programs.python_script import read_script
from anyhook.replay.backtest import (
    EXAMPLES,
    Backtest,
    Subject,
    Tallied,
    Tally,
    WorkerLost,
    as_one_of_many,
    put_together,
    spread,
)
from anyhook.replay.report import past_rules
from anyhook.replay.trial import Trial, end_with, sandbox_of, works
from anyhook.rules.pack_list import NAMES, members, path_of
from anyhook.state.memory import Sketch
from anyhook.state.plans import Setup
from anyhook.tables.registry import dialect, module_of
from anyhook.tables.translate import to_native

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from anyhook.replay.backtest import Pair

HANDLERS = ("command", "python", "rule", "function")

ABSOLUTE = re.compile(r"/[^\s\"'`;|&<>()=:,]+")
"""A path in a command line, roughly."""


class BacktestPlan(Record):
    """What a backtest tries, and on what. A worker gets it as it is, so it needs none of the files of the hooks."""

    setup: Setup
    catalog: Catalog
    chosen: tuple[str, ...]
    """The hooks, by id."""
    posture: Posture | None
    sandbox: str
    wanted: Wanted

    @property
    def hooks(self) -> list[Hook]:
        return [hook for hook in self.catalog.hooks if hook.id in self.chosen]

    @property
    def starts(self) -> bool:
        """Whether any of them is a program."""
        return any(hook.handler != "rule" for hook in self.hooks)

    def backtest(self, past: str, results: str) -> Backtest:
        engine = open_engine(
            EngineOptions(self.setup, self.posture, "shadow", host="backtest", one_shot=True), self.catalog
        )
        subjects = {hook.id: _subject(engine, hook, self.sandbox) for hook in self.hooks}
        wants = {event: remembering(self.hooks, event) for event in EVENTS}

        def replay() -> Callable[[JournalLine, Event, str], Iterator[Pair]]:
            files = Sketch()

            def pairs(line: JournalLine, event: Event, session: str) -> Iterator[Pair]:
                event = event if event.data.get("session") else event.replace(data={**event.data, "session": session})
                rules = past_rules(line, engine.context)
                if (asked := wants[event.name]) is not None:
                    rules.remember(asked, event, files, at_s=(line.at_ns or 0) / 1e9)
                yield from _pairs(engine, subjects, event, rules)
                if rules.past is not None and (then := line.decision) is not None:
                    refused = then.verdict == BLOCK and then.enforced
                    rules.past.conclude(rules.call(event), refused=refused, asked=then.verdict in (BLOCK, "ask"))

            return pairs

        return Backtest(results, past, self.wanted, replay, engine.context.recorder.policy, starts=self.starts)


def judge_journals(journals: Sequence[tuple[int, str]], plan: BacktestPlan, most: int) -> Tallied:
    """In a worker: what rules say about the events of these journals, each of which has its own sessions and a place
    among all."""
    return put_together((_judge_one(*journal, plan, most) for journal in journals), most)


def _judge_one(place: int, journal: str, plan: BacktestPlan, most: int) -> Tallied:
    if not os.path.isdir(journal):
        raise FileNotFoundError(f"{journal} is not a directory where this worker runs")
    test = plan.backtest(journal, ":memory:")
    try:
        found = test.tally(lambda _done, _all: None, most)
    finally:
        test.close()
    return found.replace(findings=[as_one_of_many(finding, place) for finding in found.findings])


def planned(names: tuple[str, ...], options: BacktestOptions, wanted: Wanted) -> BacktestPlan:
    project = project_of(options.project, options.plugin_dir)
    setup = Setup.of(project, dict(os.environ), options.dialect, options.trust or "ask", options.plugin_dir)
    catalog = open_catalog(setup)
    catalog = _with_rules_of_files(catalog, names)
    names = tuple(each for name in names for each in _meant(name, catalog, setup))
    catalog = _with_packs(catalog, names)
    chosen = dict.fromkeys(hook.id for name in names for hook in _chosen(catalog.hooks, name))
    wanted = wanted.replace(project=_only(options, setup.project))
    return BacktestPlan(setup, catalog, (*chosen,), options.on_failure or None, options.sandbox or "bwrap", wanted)


def _sandbox_of(plan: BacktestPlan) -> tuple[str, ...]:
    """The sandbox's command line, if any of the hooks is a program."""
    if not plan.starts:
        return ()
    needed = [sys.prefix, sys.base_prefix, os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
    needed += [home_of(plan.setup.env), *(path for hook in plan.hooks for path in _places(hook))]
    return _sandbox(plan.sandbox, plan.setup.project, needed)


def _only(options: BacktestOptions, project: str) -> str | None:
    """The one project whose events count; None for all. Those of other machines are elsewhere."""
    return None if options.everywhere or options.from_ else project


def _meant(name: str, catalog: Catalog, setup: Setup) -> Sequence[str]:
    """The hook with this name; `guard` means all guards, unless a hook has that name; a file means the hooks that it
    declares, or those that run it."""
    if hooks_meant(name, catalog.hooks):
        return (name,)
    return members(name) or (_of_file(name, catalog, setup) if os.path.isfile(name) else (name,))


def _of_file(name: str, catalog: Catalog, setup: Setup) -> Sequence[str]:
    path, roots = os.path.realpath(name), setup.roots(catalog.config.plugins)
    hooks = [hook for hook in catalog.hooks if hook.scope != "builtin"]
    declared = [hook.id for hook in hooks if os.path.realpath(hook.source) == path]
    runs = (hook.id for hook in hooks if path in pinned(hook, dialect(hook.dialect), roots, Files())[1])
    found = declared or [*runs]
    if not found:
        raise BadCall(f"{name}: no hook is declared in this file or runs it. `anyhook list` shows the hooks.")
    return found


def _with_rules_of_files(catalog: Catalog, names: Iterable[str]) -> Catalog:
    """The catalog, with the rules of named files that are not in it: rules that you have only written."""
    for name in names:
        path = os.path.realpath(name)
        known = path in {os.path.realpath(hook.source) for hook in catalog.hooks}
        if known or not (name.endswith(".toml") and os.path.isfile(path)):
            continue
        files = Files()
        fresh = _rules_in(path, os.path.splitext(os.path.basename(path))[0], files)
        for line in render.problem_lines(files.problems):
            render.say(line)
        catalog = catalog.replace(hooks=[*catalog.hooks, *fresh])
    return catalog


def _with_packs(catalog: Catalog, names: tuple[str, ...]) -> Catalog:
    """The catalog, with the rules of named packs that are off, so that you can try one before you turn it on."""
    there = {hook.group for hook in catalog.hooks}
    fresh = [hook for name in names if name in NAMES and name not in there for hook in _rules_of(name)]
    return catalog.replace(hooks=[*catalog.hooks, *fresh]) if fresh else catalog


def _rules_of(pack: str) -> tuple[Hook, ...]:
    return _rules_in(path_of(pack), pack, Files())


def _rules_in(path: str, label: str, files: Files) -> tuple[Hook, ...]:
    table = dialect("anyhook")
    return load(table, Source(table.name, "user", path, os.path.dirname(path), label), files).hooks


def _places(hook: Hook) -> Iterator[str]:
    """The folders of the files that a hook names, for what they import."""
    named = [path for text in every_text(dict(hook.spec)) for path in ABSOLUTE.findall(text)]
    for path in (hook.source, *hook.files, *named):
        yield path if os.path.dirname(path) == "/tmp" else os.path.dirname(path)  # noqa: S108


def _chosen(hooks: Sequence[Hook], name: str) -> list[Hook]:
    """The hooks that a name means: an id, a name, a part of one id, a pattern of ids, or a pack (all of its rules)."""
    many = hooks_meant(name, hooks)
    found = many or [hook for hook in hooks if name in hook.id]
    if not many and len(found) != 1:
        known = ", ".join(hook.id for hook in (found or hooks)[:10]) or "none"
        what = "several hooks have this in their ids" if found else f"there is no such hook.{likely(name, hooks)} Hooks"
        raise BadCall(f"{name}: {what}: {known}. `anyhook list` shows the ids.")
    if len(many) > 1:
        usable = [hook for hook in many if not _unusable(hook)]
        if not usable:
            raise BadCall(f"{name}: none of these {len(many)} hooks can run. `anyhook list` shows why.")
        return usable
    (hook,) = found
    if wrong := _unusable(hook):
        raise BadCall(wrong)
    return [hook]


def _unusable(hook: Hook) -> str:
    """Why a hook cannot be backtested; "" if it can."""
    if not hook.trusted:
        return f"{hook.id} is not approved, so it does not run here either. Look at it first: anyhook trust"
    if hook.status != "armed":
        return f"{hook.id} cannot run: {hook.why or hook.status}."
    if hook.handler not in HANDLERS:
        return f"{hook.id}: a `{hook.handler}` handler cannot be backtested; {', '.join(HANDLERS)} handlers can."
    return ""


def _subject(engine: Engine, hook: Hook, sandbox: str) -> Subject:
    table = dialect(hook.dialect)
    row = table.row(hook.native_event)
    if row is None:
        raise BadCall(f"{hook.id}: its event is not known yet; fire it once.")
    if hook.handler == "rule":
        return Subject(hook, table, row, "", posture_of(engine.context, hook))  # no result of it is kept
    item, _ = pinned(hook, table, engine.setup.roots(engine.catalog.config.plugins), Files())
    content = lean_json.dumps([item.id, item.definition, dict(item.files), sandbox])
    return Subject(hook, table, row, digest(content.encode()), posture_of(engine.context, hook))


def _pairs(engine: Engine, subjects: dict[str, Subject], event: Event, rules: Rules) -> Iterator[Pair]:
    steps = engine.context.routes.find(event).steps
    for position, step in enumerate(steps):
        subject = subjects.get(step.hook.id)
        if subject is None or step.why:
            continue
        if step.hook.condition is not None:
            yield from _asked(engine, subject, (steps, position), event, rules)
            continue
        seen = to_native(event, step.dialect)
        if step.why is None:
            why, _ = match(step.hook, step.dialect, step.row, seen, event)
            if why:
                continue

        def make(key: str, subject: Subject = subject, seen: Event = seen) -> Trial:
            return _trial(engine, subject, seen, key)

        yield subject, make


def _asked(
    engine: Engine, subject: Subject, place: tuple[tuple[HookStep, ...], int], event: Event, rules: Rules
) -> Iterator[Pair]:
    """What a rule would do for this event; or the trial, if it runs a command for this call."""
    steps, position = place
    step = steps[position]
    met = position not in rules.unmet and not rules.asked(steps, position, event)
    answer = rules.answers.get(step.hook.id, SILENT) if met else SILENT
    if met and step.hook.handler != "rule" and answer is SILENT:
        hook = rules.with_line(step, event).hook
        given = hook.spec.get("given")
        earlier = given.get("earlier") if isinstance(given, dict) else None
        subject = subject.replace(hook=hook, content=f"{subject.content} {earlier}" if earlier else subject.content)
        yield subject, lambda key: _trial(engine, subject, event, key)
    else:
        yield subject, answer


def _trial(engine: Engine, subject: Subject, event: Event, key: str) -> Trial:
    hook, table = subject.hook, subject.dialect
    scene = scene_of(engine.context, event, table, subject.row)
    if hook.handler == "function":
        call = function_call(hook, own_scene(hook, scene), hook.limit_s, f"{gettempdir()}/anyhook-backtest")
        return Trial(key, hook.id, call)
    call, missing = present(hook, table, subject.row, scene, "backtest")
    scene = own_scene(hook, scene)
    interpreter, task = "", ()  # type: tuple[str, tuple[object, ...]]
    if hook.handler == "python":
        own = scene.project if hook.scope == "project" else None
        interpreter, call = sys.executable, call.replace(env=dict(scene.env))
        api = f"{module_of(table.name)}.api"
        task = ("callable", api, hook.spec["callable"], own, scene.native, scene.project, scene.session, call.stdin)
    elif not missing and (script := read_script(call.argv, call.cwd, call.env)) and script.at == 1:  # no switches
        interpreter = script.interpreter
        task = ("script", os.path.join(call.cwd, script.path), script.words[2:], call.stdin)
    return Trial(key, hook.id, call, interpreter, task)


def _sandbox(kind: str, project: str, needed: list[str]) -> tuple[str, ...]:
    instead = "or let the hooks run without a sandbox: --sandbox none"
    try:
        words = sandbox_of(kind, project, needed)
    except LookupError as error:
        raise BadCall(f"there is no sandbox: {error}. Install bubblewrap, {instead}") from None
    wrong = works(words)
    if wrong:
        raise BadCall(f"the sandbox does not work here: {wrong}. Let this user make user namespaces, {instead}")
    return words


# `anyhook backtest`: try today's hooks on past events, in a sandbox.


MAX_SILENT = 10
"""With more hooks than this, those that would have done nothing are only counted."""


class BacktestOptions(JsonOptions, PostureOption, TrustOption, HookOptions, TextFilter, EventFilter, FromOption):
    everywhere: bool = switch("--everywhere", "Use events of every project, not only of this one.")
    sandbox: str | None = option(
        "--sandbox", "bwrap (default), or none to run hooks without a sandbox.", "KIND", choices=("bwrap", "none")
    )
    jobs: str | None = option("--jobs", "How many processes to use; default: one per core.", "N")
    dask: str | None = option("--dask", "Run on this cluster of dask.distributed instead.", "ADDRESS")
    last: str | None = option("--last", "Show this many of the events that differ; default: 20.", "N", short="-n")


@verb(
    "backtest",
    BacktestOptions,
    "anyhook backtest git_guard --since 30d",
    [click.Argument(["hooks"], nargs=-1, required=True, metavar="HOOK...", type=HOOK)],
)
def backtest(hooks: tuple[str, ...], options: BacktestOptions) -> int:
    """Run hooks, as they are today, on recorded and imported events of this project, and show what they would have
    blocked, rewritten or cost. HOOK is an id, a name, a pattern of ids, a pack of rules, or a file: the hooks that it
    declares or that run it, or rules that you have only written. Rules are asked and start nothing; other hooks run in
    a sandbox without a network, where they can write nothing. Results are kept: no event runs twice, and an
    interrupted backtest continues where it stopped."""
    look_for_cycles_seldom()
    folder = state_dir(os.environ)
    try:
        make_private_dir(folder)
        os.close(os.open(f"{folder}/backtest.sqlite", os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise BadCall(
            f"cannot write {folder}/backtest.sqlite ({error.strerror}). Make the state directory writable."
        ) from None
    wanted, most = wanted_of(options), count_of("--last", options.last, 20)
    plan = planned(hooks, options, wanted)
    try:
        found, cold_only = _run(plan, folder, options, max(most, EXAMPLES))
    except WorkerLost as error:
        stored = "Earlier results are stored: run it again to continue." if plan.starts else "Run it again."
        raise BadCall(f"a process that ran the hooks is gone ({error}). {stored}") from None
    except sqlite3.Error as error:
        raise BadCall(
            f"the stored results cannot be used: {error} ({folder}/backtest.sqlite). Delete the file and try again."
        ) from None
    if options.json:
        told: dict[str, JsonView] = {
            "hooks": {name: found.tallies[name].as_dict() for name in plan.chosen if name in found.tallies},
            "findings": [finding.as_dict() for finding in found.findings],
            "found": found.count,
            "left_out": found.left_out,
            "cold_only": cold_only,
        }
        render.json_out(told, indent=2)
        return 0
    _tell(plan, found, cold_only, most)
    return 0


def _run(plan: BacktestPlan, folder: str, options: BacktestOptions, most: int) -> tuple[Tallied, list[str]]:
    """The result, and the hooks that ran only in new processes. Rules on the journals of many machines are judged by
    workers; on one journal, here, because what they remember of a session needs all before it."""
    past = folder_of(options)
    journals, jobs = journals_of(past), count_of("--jobs", options.jobs, os.cpu_count() or 1)
    if not plan.starts and (options.dask or min(jobs, len(journals)) > 1):
        with _workers(options, jobs) as (executor, workers), progress("judging") as tell:
            judge = partial(judge_journals, plan=plan, most=most)
            return put_together(spread(executor, workers, journals, judge, tell), most), []
    test = plan.backtest(past, f"{folder}/backtest.sqlite")
    if plan.starts:
        with _workers(options, jobs) as (executor, workers), progress("running the hooks") as tell:
            test.run(executor, workers, _sandbox_of(plan), tell)
    with progress("counting") as tell:
        found = test.tally(tell, most)
    test.close()
    return found, sorted(test.cold_only)


@contextmanager
def _workers(options: BacktestOptions, jobs: int) -> Iterator[tuple[Executor, int]]:
    """A pool of processes, or a cluster with the same interface, and how many they are. An interruption kills the
    pool's processes and what they run."""
    if options.dask:
        with _cluster(options.dask) as cluster:
            yield cluster
        return
    with process_pool(jobs, end_with) as pool:
        yield pool, jobs


@contextmanager
def _cluster(address: str) -> Iterator[tuple[Executor, int]]:
    dask = of_extra("distributed", "dask", "--dask needs dask.distributed")
    try:
        client = dask.Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise BadCall(f"--dask {address}: no cluster answers there ({error}).") from None
    try:
        yield client.get_executor(pure=False), max(1, sum(client.ncores().values()))
    finally:
        client.close()


def _tell(plan: BacktestPlan, found: Tallied, cold_only: Sequence[str], most: int) -> None:
    shown = found.findings[-most:]
    if found.count > len(shown):
        render.out(f"… {found.count - len(shown)} before these; -n shows more")
    for finding in shown:
        render.out("\n".join(finding_lines(finding)))
    for hook in cold_only:
        render.say(
            f"{hook} behaved differently in a long-lived interpreter, so each of its events ran in a new process."
        )
    for why, left in found.left_out.items():
        render.say(f"{left} event(s) left out: {why}")
    _show_tallies({name: found.tallies[name] for name in plan.chosen if name in found.tallies})
    elsewhere = "" if plan.wanted.project is None else "; --everywhere also looks at other projects"
    others = " except those left out" if found.left_out else ""
    silent = [name for name in plan.chosen if name not in found.tallies]
    for name in silent if len(silent) <= MAX_SILENT else [f"{len(silent)} hooks"]:
        render.say(f"{name}: no recorded event matches{others}{elsewhere}")


def _show_tallies(ran: dict[str, Tally]) -> None:
    """What each hook would have done; of many hooks only those that would have done something."""
    speak = {name: tally for name, tally in ran.items() if tally.speaks} if len(ran) > MAX_SILENT else ran
    if speak:
        show(tally_table(speak))
    if len(speak) < len(ran):
        asked = max(tally.events for tally in ran.values())
        these = "this event" if asked == 1 else f"these {asked:,} events"
        render.say(f"{len(ran) - len(speak)} others would have done nothing for {these}.")
