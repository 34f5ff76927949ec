"""`anyhook trust`: show what would run in a project and what changed, ask, and approve exactly what was shown. It
approves nothing without a yes, and starts nothing in an unapproved project."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from anyhook.cli import DONE, FINDINGS, BadCall, render
from anyhook.cli.catalog_input import setup_of
from anyhook.cli.options import ProjectJsonOptions, ProjectOptions, option, switch
from anyhook.cli.person import agreed, require_person
from anyhook.cli.pinned_approvals import another_version, read_approvals, sorted_by, write_approvals
from anyhook.cli.verbs import verb
from anyhook.cli.view.review_text import review_lines, summary
from anyhook.cli.view.text import visible
from anyhook.engine.catalog import Loaded, build, folders_of, open_ledger, within_budget
from anyhook.engine.match import Catalog
from anyhook.gates.review import APPROVED, REMOVED, Reviewed, contents, differences, review
from anyhook.gates.status import MIN_ALIKE
from anyhook.model.json_types import Json, JsonView
from anyhook.model.problem import Problem
from anyhook.model.record import Record
from anyhook.model.words import Trust
from anyhook.platform.places import NOWHERE, believed_dir, state_dir, upward
from anyhook.platform.run import EndsHooksWithUs, adopt_orphans
from anyhook.satellites import part
from anyhook.state.ledger import Ledger
from anyhook.state.plans import Setup
from anyhook.state.repository import place_of
from anyhook.state.settings import Settings
from anyhook.tables.registry import DIALECTS, dialect, special


class TrustOptions(ProjectJsonOptions):
    list: bool = switch("--list", "List everything you have approved.")
    yes: bool = switch("--yes", "Approve without asking.")
    revoke: bool = switch("--revoke", "Withdraw the approval of this project.")
    all: bool = switch("--all", "Show each rule of anyhook's own packs, too.")
    export: str | None = option("--export", "Write what is approved here into this file, for `--from`.", "FILE")
    from_: str | None = option("--from", "Approve exactly what this file approves, for CI.", "FILE")
    here: bool = switch("--here", "Approve for this folder only, not for other worktrees and clones of its repository.")


class ProjectReview(Record):
    """A snapshot of a project: nothing is read again between showing and approving."""

    setup: Setup
    ledger: Ledger
    entries: list[Reviewed]
    problems: list[Problem]
    too_large: bool = False
    """Whether the project is too large to read: nothing can be approved, and no approval is lost."""
    kinds: tuple[str, ...] = DIALECTS
    """The kinds that were searched for, by the prefixes of ids. For these, exactly what was shown is approved."""
    folders: Mapping[str, str] = {}
    """Dialect → the parent folder whose files count. Its hooks are approved for that folder."""

    def project_of(self, entry: Reviewed) -> str:
        return entry.project or self.setup.project

    def of(self, project: str, entries: Iterable[Reviewed]) -> list[Reviewed]:
        """Those of them that belong to a folder."""
        return [entry for entry in entries if self.project_of(entry) == project]

    @property
    def projects(self) -> list[str]:
        """The folders that the entries belong to."""
        return list(dict.fromkeys(self.project_of(entry) for entry in self.entries))

    def kinds_of(self, project: str) -> tuple[str, ...]:
        return tuple(kind for kind in self.kinds if self.folders.get(kind, self.setup.project) == project)

    @property
    def waiting(self) -> list[Reviewed]:
        return [entry for entry in self.entries if entry.status not in (APPROVED, REMOVED)]

    @property
    def gone(self) -> list[Reviewed]:
        """Approved hooks that are gone: missing gates until a person confirms it."""
        return [entry for entry in self.entries if entry.status == REMOVED]

    @property
    def refused(self) -> list[Reviewed]:
        return [entry for entry in self.entries if entry.status != REMOVED and not entry.item.pinnable]


@verb("trust", TrustOptions, "anyhook trust --project ~/src/someone-elses-repository")
def trust(options: TrustOptions) -> int:
    """Show what the hooks and the case files of a project would run, and what our own agent would use (MCP servers,
    types of sub-agents, skills), with what changed since it was approved; ask, and approve it. Without
    a terminal, only --yes approves."""
    if options.list:
        if other := next((flag for flag in ("yes", "revoke") if getattr(options, flag)), None):
            raise BadCall(f"--list and --{other} cannot be combined. Use one of them.")
        return _list(options.json, every=options.all)
    if options.revoke or options.yes or options.export or options.from_:
        require_person("trust")
    if options.export is not None or options.from_ is not None:
        return _by_file(options)
    return _revoke(options) if options.revoke else _review(options)


def _review(options: TrustOptions) -> int:
    found = look(options, with_cases=not options.dialect, with_offers=not options.dialect)
    items = [_as_dict(entry, found.ledger, found.project_of(entry)) for entry in found.entries] if options.json else []
    if not options.json:
        show(found, every=options.all)
    settled = _settled(found, options)
    approved = not found.too_large and (settled or _approve(found, options.yes, options.json, options.here))
    events = _asked_for_events(found) if approved else {}
    if options.json:
        _json(found, approved and not found.refused, items, events)
    else:
        for key, event in events.items():
            render.say(f"{visible(key)} is a hook of {visible(event)}.")
    return DONE if approved and not found.refused else FINDINGS


def _by_file(options: TrustOptions) -> int:
    """Approvals from a file, or into one."""
    if (options.export and options.from_) or options.yes or options.revoke:
        raise BadCall("--export, --from, --yes and --revoke cannot be combined. Use one of them.")
    found = look(options, with_cases=not options.dialect, with_offers=not options.dialect)
    refuse_own_ledger(found.setup)
    root = found.setup.project
    if options.export is not None:
        count = write_approvals(options.export, found.entries, root)
        waiting = f"; {len(found.waiting)} not approved and left out" if found.waiting else ""
        render.out(f"{count} approvals written to {options.export}{waiting}.")
        return DONE
    pinned = read_approvals(str(options.from_))
    approved, why = sorted_by(pinned.approved, found.entries, root)
    count = approve_some(found, approved)
    if options.json:
        render.json_out({"approved": [*approved], "not_approved": [*why]}, indent=2)
    else:
        render.out(f"Approved: {count} in {visible(root)}, as {visible(str(options.from_))} says.")
        for line in why:
            render.say(f"not approved: {visible(line)}")
        if why and (other := another_version(pinned)):
            render.say(other)
    return FINDINGS if why or found.too_large else DONE


def _settled(found: ProjectReview, options: TrustOptions) -> bool:
    """Whether there is nothing to approve or to withdraw. What an approval does not reach yet is told, and settled by
    `--yes`."""
    if found.waiting or found.gone or (options.here and _counts_elsewhere(found)):
        return False
    narrow = [] if options.here else not_reached(found.ledger, found.projects)
    if narrow and options.yes:
        return False
    for line in () if options.json else narrow:
        render.say(line)
    return True


def look(
    options: ProjectOptions, trust: Trust | None = None, *, with_cases: bool = False, with_offers: bool = False
) -> ProjectReview:
    """What needs approval: hooks; also case files and what our own agent would use, if a person reviews them."""
    setup = setup_of(options, trust)
    return within_budget(setup, lambda loaded: _found(setup, loaded, with_cases, with_offers))


def _found(setup: Setup, loaded: Loaded, with_cases: bool, with_offers: bool) -> ProjectReview:
    ledger = open_ledger(setup, loaded.files)
    if loaded.too_large is not None:
        return ProjectReview(setup, ledger, [], [*ledger.problems, *loaded.files.problems], too_large=True)
    tables = [(dialect(name), loaded.layers[name]) for name in setup.dialects]
    folders = folders_of(loaded.layers, loaded.folders, loaded.roots, ledger, loaded.files)
    loaded.charge(setup.project)
    reviewed = review(tables, ledger, loaded.roots, loaded.files, folders)
    loaded.stop_charging()
    entries = _with_lines(reviewed, loaded.config)
    problems, kinds = [*ledger.problems, *loaded.files.problems], setup.dialects
    if with_cases and (kit := part("testing.kit.approval")):
        cases, more = kit.review_cases(setup.project, ledger, setup.env)
        entries, problems, kinds = [*entries, *cases], [*problems, *more], (*kinds, kit.CASES)
    if with_offers and (content := part("agent.content")):
        offers, more, above = content.review_offers(setup, ledger)
        entries, problems = [*entries, *offers], [*problems, *more]
        kinds, folders = (*kinds, *content.KINDS), {**folders, **above}
    return ProjectReview(setup, ledger, entries, problems, kinds=kinds, folders=folders)


def _with_lines(entries: list[Reviewed], config: Settings) -> list[Reviewed]:
    located = Catalog([entry.hook for entry in entries if entry.hook], [], config, {}).with_lines().hooks
    hooks = iter(located)
    return [entry.replace(hook=next(hooks)) if entry.hook else entry for entry in entries]


def show(found: ProjectReview, *, every: bool) -> None:
    for line in render.problem_lines(found.problems):
        render.say(visible(line))
    if found.too_large:
        render.out(f"{visible(found.setup.project)}: this project is too large to be read, so nothing can be approved.")
        return
    if not found.entries:
        render.out(f"{visible(found.setup.project)}: no hooks and nothing else to approve.")
        return
    for line in review_lines(found.entries, found.ledger, every=every):
        render.out(line)
    for project in found.projects:
        render.out(summary(project, found.of(project, found.entries), found.ledger))


def _counts_elsewhere(found: ProjectReview) -> bool:
    """Whether something here is also approved for other checkouts, or through another one."""
    for entry in found.entries:
        own = found.ledger.items(found.project_of(entry)).get(entry.item.id)
        if entry.status == APPROVED and (own is None or not own.here):
            return True
    return False


def _approve(found: ProjectReview, yes: bool, as_json: bool, here: bool = False) -> bool:
    """Ask, and approve. True if everything shown is approved now."""
    refuse_own_ledger(found.setup)
    if not yes and (as_json or not _answered()):
        return False
    approve(found, render.say, quiet=as_json, here=here)
    return True


def approve(found: ProjectReview, say: Callable[[str], None], *, quiet: bool = False, here: bool = False) -> None:
    """Approve what was shown, after a person has said yes."""
    entries = [entry for entry in found.entries if entry.status != REMOVED and entry.item.pinnable]
    refused = bool(found.ledger.problems)
    with _written(found.ledger):
        for project in found.projects:
            mine = found.of(project, entries)
            items = [entry.item.replace(here=_is_here(entry)) for entry in mine]
            found.ledger.approve(project, items, contents(mine), found.kinds_of(project), here=here)
    if refused:
        say(f"The unused ledger is now {visible(found.ledger.path)}.refused.")
    for entry in found.refused:
        say(f"{visible(entry.item.id)} cannot be approved: {'; '.join(_reasons(entry))}.")
    for project in () if quiet else found.projects:
        say(_approved_line(project, found.of(project, entries), len(found.of(project, found.gone)), here=here))


def _approved_line(project: str, entries: Sequence[Reviewed], gone: int, *, here: bool) -> str:
    forgotten = f" No longer expected: {gone}." if gone else ""
    unpinned = sum(bool(entry.item.unpinned) for entry in entries)
    counts = reach(project, unpinned, here=here) if entries else ""
    return f"Approved: {len(entries)} in {visible(project)}.{forgotten}{counts}"


def _is_here(entry: Reviewed) -> bool:
    """Whether it was approved before for its folder only. Approving something else with it does not widen that."""
    return entry.status == APPROVED and entry.before is not None and entry.before.here


def approve_one(found: ProjectReview, identity: str, written: dict[str, bytes]) -> bool:
    """Approve one more hook if its files contain exactly what the user was shown. True if it is approved."""
    entry = next((entry for entry in found.entries if entry.item.id == identity), None)
    if entry is None or found.setup.own_dir() == NOWHERE:
        return False
    if any(entry.item.files.get(path) != hashlib.sha256(data).hexdigest() for path, data in written.items()):
        return False
    _change_approvals(found, [entry])
    return True


def forget_removed(found: ProjectReview) -> None:
    """Withdraw the approval of hooks that a person has just removed, so that they do not count as missing."""
    _change_approvals(found, found.gone)


def approve_some(found: ProjectReview, identities: Sequence[str]) -> int:
    """Approve more hooks whose content the user has just accepted. Returns how many."""
    entries = [entry for entry in found.entries if entry.item.id in identities and entry.item.pinnable]
    _change_approvals(found, entries)
    return len(entries)


def _change_approvals(found: ProjectReview, entries: Sequence[Reviewed]) -> None:
    """Approve these as they are now, and withdraw the approval of those that are gone. All others stay."""
    with _written(found.ledger):
        for project in dict.fromkeys(map(found.project_of, entries)):
            mine = found.of(project, entries)
            changed = {entry.item.id for entry in mine}
            there = [entry for entry in mine if entry.status != REMOVED]
            kept = [item for key, item in found.ledger.items(project).items() if key not in changed]
            found.ledger.approve(project, [*kept, *(entry.item for entry in there)], contents(there))


def refuse_own_ledger(setup: Setup) -> None:
    """Refuse to write to a ledger that may have come with the project."""
    if setup.own_dir() == NOWHERE:
        folder = state_dir(setup.env)
        raise BadCall(f"{visible(folder)}: the trust ledger is inside the project. Set XDG_STATE_HOME elsewhere.")


def approve_all(options: ProjectOptions, trust: Trust | None = None) -> None:
    """Approve a project's hooks as they are, because the call says so, and show what was approved."""
    require_person("trust")
    found = look(options, trust)
    if found.too_large:
        for line in render.problem_lines(found.problems):
            render.say(visible(line))
    if found.waiting:
        for entry in found.waiting:
            render.say(f"{visible(entry.item.id)}: {entry.status}")
        _approve(found, yes=True, as_json=False)


def _reasons(entry: Reviewed) -> list[str]:
    return [f"{visible(path)}: {digest[1:]}" for path, digest in entry.item.files.items() if digest.startswith("!")]


def _answered() -> bool:
    """Whether a person says yes; if no person can be asked, says how to approve, and returns False."""
    require_person("trust")
    instead = "`anyhook trust --yes` approves exactly this; in a terminal `anyhook trust` asks."
    return agreed("Approve exactly this?", "Not approved.", instead)


def _asked_for_events(found: ProjectReview) -> dict[str, str]:
    """Ask executables for their event, now that they are trusted; by id."""
    ids = {entry.item.id for entry in found.entries if entry.hook and special(entry.hook.dialect, "ASK_TYPE")}
    if not ids:
        return {}
    adopt_orphans()
    with EndsHooksWithUs():
        catalog = build(found.setup, may_start=True)
    for line in render.problem_lines([problem for problem in catalog.problems if problem.code == "no-event"]):
        render.say(visible(line))
    return {hook.id: hook.native_event for hook in catalog.hooks if hook.id in ids and hook.native_event}


def _as_dict(entry: Reviewed, ledger: Ledger, project: str) -> dict[str, Json]:
    """With its diff, which must be computed before an approval replaces the old copies."""
    hook = entry.hook
    return {
        "id": entry.item.id,
        "status": entry.status,
        "event": entry.event or "unknown",
        "matcher": hook.matcher if hook else None,
        "handler": hook.handler if hook else None,
        "runs": hook.spec if hook else {**entry.runs} if entry.runs else None,
        "source": hook.where() if hook else None,
        "project": project,
        "limit_ms": round(hook.limit_s * 1000) if hook else None,
        "overrides": list(entry.overrides),
        "definition": entry.item.definition,
        "files": {**entry.item.files},
        "unpinned": [*entry.item.unpinned],
        "diff": "\n".join(line for _, lines in differences(entry, ledger) for line in lines),
    }


def _json(found: ProjectReview, approved: bool, items: list[dict[str, Json]], events: dict[str, str]) -> None:
    listed = [{**item, "event": events.get(str(item["id"]), item["event"])} for item in items]
    problems = [problem.as_dict() for problem in found.problems]
    _ascii_out({"project": found.setup.project, "approved": approved, "items": listed, "problems": problems})


def _ascii_out(value: JsonView) -> None:
    """Print JSON in ASCII: its escapes keep a project's texts from controlling the terminal."""
    render.exact_out(json.dumps(value, indent=2))


def _list(as_json: bool, *, every: bool) -> int:
    ledger = Ledger(state_dir(os.environ))
    approvals = sorted(ledger.approvals.values(), key=lambda approval: approval.project)
    for line in render.problem_lines(ledger.problems):
        render.say(line)
    if as_json:
        listed: list[JsonView] = [
            {"project": it.project, "when": it.when, "there": os.path.isdir(it.project), "items": list(it.items)}
            for it in approvals
        ]
        _ascii_out({"approvals": listed})
        return DONE
    if not approvals:
        render.out("Nothing is approved. `anyhook trust` in a project shows its hooks and asks.")
    for each in approvals:
        gone = "" if os.path.isdir(each.project) else "  (the project is gone; `--revoke --project` forgets it)"
        render.out(f"{each.when}  {visible(each.project)}{gone}")
        for line in each.items if every else _by_pack(each.items):
            render.out(f"    {visible(line)}")
    return DONE


def _by_pack(keys: Iterable[str]) -> Iterator[str]:
    """Ids of approved things; many of one pack or file are one line."""
    together: dict[str, list[str]] = {}
    for key in keys:
        together.setdefault(key.rsplit(":", 2)[0] if key.count(":") > 3 else key, []).append(key)
    for owner, some in together.items():
        yield from [f"{owner}: {len(some)} of them; --all lists each"] if len(some) >= MIN_ALIKE else some


def _revoke(options: TrustOptions) -> int:
    """A deleted project can be revoked too."""
    project = os.path.realpath(options.project or ".")
    outer = Setup.of(project, os.environ).outer if os.path.isdir(project) else project
    ledger = Ledger(believed_dir(os.environ, project, outer))
    if project not in ledger.approvals:  # what counts here may have been approved for a folder above
        project = next((folder for folder in upward(project, outer) if ledger.counts_for(folder)), project)
    if project not in ledger.approvals and not os.path.isdir(project):
        raise BadCall(f"--project {visible(project)}: there is no such directory, and no approval of it. See --list.")
    with _written(ledger):
        lost = ledger.revoke(project, options.dialect)
    if options.json:
        _ascii_out({"project": project, "revoked": bool(lost)})
        return DONE
    for folder in lost or [project]:
        render.out(f"{visible(folder)}: " + ("no longer approved." if lost else "was not approved."))
    return DONE


@contextmanager
def _written(ledger: Ledger) -> Iterator[None]:
    """The ledger is written in here; a failure is a message."""
    try:
        yield
    except OSError as error:
        raise BadCall(
            f"{visible(error.filename or ledger.path)}: the trust ledger cannot be written ({error.strerror}). "
            "Make the folder yours alone (mode 700), or set XDG_STATE_HOME to one that is."
        ) from None


# Where else an approval counts: in which worktrees and clones, and which it does not reach yet.


def reach(project: str, unpinned: int = 0, *, here: bool) -> str:
    """Where else an approval counts that is given now; `unpinned` of them also run what is not pinned."""
    place = place_of(project)
    if place is None or here:
        return " It counts for this folder only." if place else ""
    clones = " and clones" if place.origin else ""
    told = f" It also counts for the same files in other worktrees{clones} of this repository; `--here` prevents that."
    if clones and unpinned:
        told += f" Clones need their own approval of {unpinned} of them: what these also run may differ there."
    return told if clones else f"{told} {NO_ORIGIN}"


NO_ORIGIN = (
    "Clones need their own approval: this repository has no remote `origin`. Once it has one, `anyhook trust --yes` "
    "here lets the approval count in clones too."
)


def not_reached(ledger: Ledger, projects: Sequence[str]) -> list[str]:
    """For each folder that was approved before its repository had the `origin` that it has now: a sentence about it."""
    told: list[str] = []
    for project in projects:
        before, place = ledger.approvals.get(project), place_of(project)
        if before is None or place is None or not place.origin or all(item.here for item in before.items.values()):
            continue
        if before.place is None or before.place.origin != place.origin:
            told.append(
                f"{visible(project)}: approved before its remote `origin` was {visible(place.origin)}, so clones of "
                "that need their own approval. `anyhook trust --yes` here lets this one count there too."
            )
    return told
