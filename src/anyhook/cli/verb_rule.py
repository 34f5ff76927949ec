"""`anyhook rule` and `anyhook relax`: one rule, and an exception to it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import click

from anyhook.cli import DONE, FINDINGS, BadCall, render
from anyhook.cli.fire import project_of
from anyhook.cli.known_words import HOOK
from anyhook.cli.options import JsonOptions, ProjectOption, repeated, switch
from anyhook.cli.person import require_person
from anyhook.cli.undo import tell_undo, undo
from anyhook.cli.verb_status import repository_root
from anyhook.cli.verbs import verb
from anyhook.cli.view.console import prefixed
from anyhook.documents import edit
from anyhook.engine.catalog import build
from anyhook.engine.hook_names import hooks_meant, likely
from anyhook.install.changes import CannotChange
from anyhook.install.used_packs import rule_file, text_of, write_rules
from anyhook.model.hook import ARMED, Hook
from anyhook.model.json_types import Json
from anyhook.model.problem import ERROR
from anyhook.model.record import Record
from anyhook.platform.places import home_of
from anyhook.rules.calls import facts_of
from anyhook.rules.pack_list import NAMES, examples_of, path_of, read_pack
from anyhook.rules.wildcards import names_rule, spelled
from anyhook.state.plans import Setup
from anyhook.tables.shapes import canonical, guess

MAX_EXAMPLES = 5
ARGUMENT = [click.Argument(["name"], type=HOOK)]
CONDITIONS = ("when", "before", "after")


class RuleOptions(JsonOptions, ProjectOption):
    """`anyhook rule`."""


class RelaxOptions(RuleOptions):
    path: tuple[str, ...] = repeated("--path", "Not for this file or folder; may be repeated.", "PATH")
    ask: bool = switch("--ask", "Ask a person instead of refusing.")
    off: bool = switch("--off", "Switch the rule off.")
    project_only: bool = switch("--project-only", "For this project alone.")
    undo: bool = switch("--undo", "Take back what the same call wrote; with nothing but a name, all of it.")


class Rule(Record):
    """One rule, on or off."""

    name: str
    """PACK/NAME; only the name for a rule outside packs."""
    refuses: str
    because: str
    then: str
    severity: str
    refused: tuple[str, ...]
    passed: tuple[str, ...]
    hooks: tuple[Hook, ...] = ()
    """Where it is on."""

    @property
    def on(self) -> bool:
        return any(hook.status == ARMED for hook in self.hooks)

    @property
    def is_own(self) -> bool:
        """Whether the user's own rules have it, where its user can relax it."""
        return any(hook.scope == "user" and not hook.policy for hook in self.hooks)

    @property
    def relax(self) -> str:
        """How it is relaxed."""
        if any(hook.scope == "managed" for hook in self.hooks):
            return "it is the organisation's, and only root can change it"
        if self.hooks and self.hooks[0].policy and not self.is_own:
            return f"it is in the policy `{self.hooks[0].policy}`, whose authors can relax it"
        return f"anyhook relax {self.name} --ask"

    def as_dict(self) -> dict[str, Json]:
        return {
            "rule": self.name,
            "refuses": self.refuses,
            "because": self.because,
            "examples": {"refused": [*self.refused], "passed": [*self.passed]},
            "on": self.on,
            "relax": self.relax,
            "then": self.then,
            "severity": self.severity,
        }


@verb("rule", RuleOptions, "anyhook rule git/forced-push", ARGUMENT)
def rule(name: str, options: RuleOptions) -> int:
    """Show one rule: what it refuses and why, with examples, whether it is on, and how to relax it.

    NAME is PACK/NAME, as every refusal ends with; blanks and hyphens are the same.
    """
    found = find_rule(name, options)
    if options.json:
        render.json_out(found.as_dict(), indent=2)
        return DONE
    where = [f"{hook.status} for the {hook.scope}, {render.short_path(hook.where())}" for hook in found.hooks]
    pack = found.name.partition("/")[0]
    told = [("", f"{found.name}  ({'; '.join(where) or f'off; to turn it on: anyhook add {pack}'})")]
    word = {"ask": "asks about", "deny": "refuses"}.get(found.then, found.then)
    told += [(word, found.refuses), ("because", found.because)]
    told += [(("refused" if not at else ""), line) for at, line in enumerate(found.refused)]
    told += [(("passes" if not at else ""), line) for at, line in enumerate(found.passed)]
    for at, (title, text) in enumerate((*told, *_ways(found))):
        for line in prefixed(text, f"  {title:<11}" if at else "", " " * (13 if at else 2)) if text else ():
            render.out(line)
    return DONE


def _ways(found: Rule) -> list[tuple[str, str]]:
    """How it can be relaxed, for people, and what takes that back."""
    if not found.relax.startswith("anyhook "):
        return [("relax", found.relax)]
    _, there = relaxed_in(rule_file("user", "/", os.environ))
    mine = [each for each in there if spelled(str(each.get("rule"))) == spelled(found.name)]
    written = ["; ".join(f"{key} = {canonical(each[key])}" for key in each if key != "rule") for each in mine]
    taken_back = [("", f"anyhook relax {found.name} --undo   take that back")] if mine else []
    relaxed = [("" if at else "relaxed", text) for at, text in enumerate(written)] + taken_back
    if not found.on:
        return relaxed
    return [
        *relaxed,
        ("relax", f"anyhook relax {found.name} --path PATH   not for this file or folder"),
        ("", f"anyhook relax {found.name} --ask   ask a person instead"),
        ("", f"anyhook relax {found.name} --off   switch it off"),
        ("watch", f"anyhook shadow {found.name} --for 7d   only record what it would refuse"),
    ]


def _shipped_rules() -> dict[str, tuple[str, Mapping[str, Any]]]:
    """The rules of the packs that come with us: name → pack and table."""
    return {
        f"{pack}/{spelled(str(each['name'])).replace(' ', '-')}": (pack, each)
        for pack in NAMES
        for each in read_pack(pack).rules
    }


def find_rule(name: str, options: RuleOptions) -> Rule:
    """The one rule that a person means; raises BadCall for none and for several."""
    hooks = [hook for hook in build(_setup(options), may_start=False).hooks if hook.condition is not None]
    meant = hooks_meant(name, hooks)
    names = [*dict.fromkeys(hook.short_name for hook in meant)]
    if len(names) > 1:
        raise BadCall(f"`{name}` means {len(names)} rules: {', '.join(names)}. Name one of them.")
    shipped = _shipped_rules()
    if meant:
        pack, table = shipped.get(names[0], ("", {}))
        if any(hook.source == path_of(pack) for hook in meant if pack):
            return _shipped(names[0], pack, table, tuple(meant))
        spec = meant[0].spec
        condition, because, then, severity = (
            str(spec.get(key, "")) for key in ("condition", "because", "then", "severity")
        )
        return Rule(names[0], condition, because, then, severity, (), (), tuple(meant))
    off = [each for each, (pack, table) in shipped.items() if names_rule(name, [each, str(table["name"])])]
    if len(off) == 1:
        return _shipped(off[0], *shipped[off[0]], ())
    if off:
        raise BadCall(f"`{name}` means {len(off)} rules: {', '.join(off)}. Name one of them.")
    hint = likely(name, hooks) or guess(name, shipped)
    raise BadCall(f"there is no rule `{name}`.{hint} `anyhook guards --rules` shows them all.")


def _shipped(name: str, pack: str, table: Mapping[str, Json], hooks: tuple[Hook, ...]) -> Rule:
    refused, passed = examples_of(pack)
    mine = refused.get(str(table["name"]), [])
    then = str(hooks[0].spec["then"]) if hooks else str(table.get("then", "run" if "run" in table else "deny"))
    condition = " ".join(next(str(table[key]) for key in CONDITIONS if key in table).split())
    because, severity = str(table.get("because", "")), str(table.get("severity", "medium"))
    examples = tuple(mine[:MAX_EXAMPLES]), tuple(_alike(mine, passed))
    return Rule(name, condition, because, then, severity, *examples, hooks)


def _alike(refused: Sequence[str], passed: Sequence[str]) -> list[str]:
    """Lines that pass, those first that run the same programs."""
    programs = {program for line in refused for program in _programs(line)}
    near = sorted(passed, key=lambda line: -len(programs & {*_programs(line)}))
    return near[:MAX_EXAMPLES]


def _programs(line: str) -> list[str]:
    """The programs that a line runs, with the first word after each: `git push`."""
    found = facts_of("Bash", {"command": line}, cwd="/", home="/", project="/").runs
    return [word for each in found for word in (each.name, " ".join((each.name, *each.args[:1])))]


def _setup(options: RuleOptions) -> Setup:
    return Setup.of(os.path.realpath(project_of(options.project)), dict(os.environ))


# -- an exception


def relaxed_in(path: str) -> tuple[str, list[dict[str, Json]]]:
    """The text of a rule file, and what it relaxes."""
    try:
        text = text_of(path) or ""
        document = edit.read(text, "toml")
    except (CannotChange, edit.CannotEdit) as why:
        raise BadCall(f"{path}: {why}") from None
    listed = document.get("relax", []) if isinstance(document, dict) else []
    return text, [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []


@verb("relax", RelaxOptions, "anyhook relax git/forced-push --path ./sandbox", ARGUMENT)
def relax(name: str, options: RelaxOptions) -> int:
    """Write an exception to a rule into your hooks.toml, and say what was written.

    With --path the rule does not count for what happens to these files and folders, or in them. With --ask a person is
    asked instead, with --off the rule is off. --project-only limits it to this project.

    \b
    Exit status: 0 written, 1 nothing to take back, 3 bad call.
    """
    require_person("relax")
    found = find_rule(name, options)
    path = rule_file("user", _setup(options).project, os.environ)
    text, there = relaxed_in(path)
    given = options.path or options.ask or options.off
    if not given and not options.undo:
        raise BadCall("say what should change: --path PATH, --ask or --off.")
    if options.ask and options.off:
        raise BadCall("--ask and --off cannot be combined.")
    made = _relaxation(found.name, options)
    if options.undo:
        return _take_back(found, path, text, there, made if given else None, options)
    _check_scope(found)
    if made in there:
        return _tell(found, path, made, "written already in", options)
    write_table(path, text, "relax", made, _setup(options))
    return _tell(found, path, made, "written to", options)


def write_table(path: str, text: str, kind: str, made: dict[str, Json], setup: Setup) -> None:
    """Add an exception or a rule to a rule file that has this text."""
    try:
        after = edit.append(text, "toml", (kind,), made)
    except edit.CannotEdit as why:
        raise BadCall(f"{path}: {why}. Write the [[{kind}]] by hand.") from None
    _write(path, text, after, kind, setup)


def _relaxation(name: str, options: RelaxOptions) -> dict[str, Json]:
    """The table that these options stand for."""
    made: dict[str, Json] = {"rule": name}
    if options.path:
        made["except"] = [*map(spared, options.path)]
    if options.ask:
        made["then"] = "ask"
    if options.off:
        made["enabled"] = False
    if (project := _limit_of(options)) is not None:
        made["projects"] = [project]
    return made


def _limit_of(options: RelaxOptions) -> str | None:
    """The project that it is limited to."""
    if not options.project_only:
        return None
    project = os.path.realpath(project_of(options.project))
    return repository_root(project) or project


def spared(path: str) -> str:
    """A path as a rule file names it: whole, with everything below it, and with `~` for the home."""
    whole, home = os.path.realpath(os.path.expanduser(path)), os.path.realpath(home_of(os.environ))
    if f"{whole}/".startswith(f"{home}/") and whole != home:
        whole = f"~{whole[len(home) :]}"
    return f"{whole.rstrip('/')}/**"


def _check_scope(found: Rule) -> None:
    """A file's relaxations are for its own rules and packs."""
    if found.is_own:
        return
    if not found.hooks:
        raise BadCall(f"{found.name} is off, so there is nothing to relax.")
    hook = found.hooks[0]
    if hook.scope == "managed":
        raise BadCall(f"{found.name} is the organisation's ({hook.where()}); only root can change it.")
    if hook.policy:
        raise BadCall(f"{found.name} cannot be relaxed here: {found.relax}. `anyhook disable {hook.id}` turns it off.")
    raise BadCall(
        f"{found.name} is on in {hook.where()}, and not in your own rules. The file that uses it relaxes it, for"
        f' everybody who shares it: [[relax]] with rule = "{found.name}".'
    )


def _write(path: str, before: str, after: str, kind: str, setup: Setup) -> None:
    """Write the file, and read it again: what does not count as meant is not left there."""
    try:
        write_rules(path, after)
        wrong = [
            problem
            for problem in build(setup, may_start=False).problems
            if problem.severity == ERROR and problem.where.startswith(path) and kind in problem.code
        ]
        if wrong:
            write_rules(path, before)
            raise BadCall(f"{wrong[0].what}. Nothing was changed.")
    except OSError as error:
        raise BadCall(f"{path} cannot be written ({error.strerror}).") from None


def _take_back(
    found: Rule, path: str, text: str, there: Sequence[dict[str, Json]], made: dict[str, Json] | None,
    options: RelaxOptions,
) -> int:  # fmt: skip
    """Remove one relaxation of a rule, or all that name it alone."""
    wanted = [
        number
        for number, each in enumerate(there)
        if (each == made if made is not None else spelled(str(each.get("rule"))) == spelled(found.name))
    ]
    try:
        after, every = text, len(wanted) == len(there)
        for place in [("relax",)] if wanted and every else [("relax", number) for number in reversed(wanted)]:
            after = edit.remove(after, "toml", place)
    except edit.CannotEdit as why:
        raise BadCall(f"{path}: {why}. Remove the [[relax]] by hand.") from None
    if wanted:
        _write(path, text, after, "relax", _setup(options))
    if options.json:
        render.json_out({"rule": found.name, "removed": len(wanted), "file": path})
    elif wanted:
        render.out(f"{found.name} is as before: {len(wanted)} removed from {render.short_path(path)}.")
    else:
        render.out(f"There is no such relaxation of {found.name} in {render.short_path(path)}.")
    return DONE if wanted else FINDINGS


def _tell(found: Rule, path: str, made: dict[str, Json], word: str, options: RelaxOptions) -> int:
    words = [each for path_ in options.path for each in ("--path", os.path.realpath(os.path.expanduser(path_)))]
    flags = (("--ask", options.ask), ("--off", options.off), ("--project-only", options.project_only))
    words += [flag for flag, given in flags if given]
    limit = _limit_of(options)
    undone = undo("relax", [found.name, *words, "--undo"], "project" if limit else "user", limit)
    if options.json:
        render.json_out({"rule": found.name, "written": made, "file": path, "undo": [undone]})
        return DONE
    render.out(f"{word} {render.short_path(path)}:")
    for line in edit.append("", "toml", ("relax",), made).strip().splitlines():
        render.out(f"  {line}")
    if others := dict.fromkeys(hook.policy for hook in found.hooks if hook.policy):
        render.say(f"The policy {', '.join(others)} has this rule too, and there it is as before.")
    for scope in dict.fromkeys(hook.scope for hook in found.hooks if hook.scope != "user" and hook.status == ARMED):
        render.say(
            f"It is also on for the {scope}, and counts there as before: a file relaxes only what it uses itself."
        )
    tell_undo([undone])
    return DONE
