"""Whole trees that a program copies or unpacks over a folder: every file of the folder may be written."""

from __future__ import annotations

import os
from itertools import islice

from anyhook.model.pattern import re
from anyhook.programs.effects import REMOTE, below
from anyhook.programs.git import operation_of
from anyhook.programs.options import sort_options
from anyhook.programs.program import Program, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from anyhook.programs.collect import Collector
    from anyhook.programs.rows import ProgramRow, Tree

HERE = Word(".", ".")
RECURSIVE = ("-r", "-R", "-a", "--recursive", "--archive")
"""Options with which a copy goes down into folders."""
GIT_TREES = frozenset({
    "checkout", "switch", "pull", "merge", "reset", "restore", "stash pop", "stash apply", "rebase", "cherry-pick",
    "am", "read-tree", "checkout-index", "revert",
})  # fmt: skip


def look_at_trees(program: Program, row: ProgramRow, into: Collector) -> None:
    """Add the trees that one program copies or unpacks."""
    if row.tree and not program.remote:
        TREES[row.tree](program, row, into)


def _copy(program: Program, row: ProgramRow, into: Collector) -> None:
    """`cp -r`, `mv`, `rsync`, `scp -r`, `ditto`: over the target if only contents are copied, else below it."""
    options = sort_options(program.words, row.values)
    targets = options.values(*row.target.split())
    sources, target = (options.rest, targets[0]) if targets else (options.rest[:-1], (HERE, *options.rest)[-1])
    is_rsync = row.tree == "sync"
    if row.tree not in ("over", "move") and not options.has(*RECURSIVE):
        return
    is_whole = row.tree == "over" or options.has("-T", "--no-target-directory")
    for source in sources:
        text = source.text
        if source.globs:
            _matched(text, target, program, into)
            continue
        if is_rsync and options.has("-R", "--relative"):  # with the folders above it
            _, sign, rest = text.partition("/./")
            into.tree(_below(target, rest.strip("/") if sign else text.strip("/")), source, program.cwd)
        is_inside = text.endswith(("/.", "/..")) or text in (".", "..", "./", "../") or (is_rsync and text[-1:] == "/")
        _copied_one(source, target, program, into, is_over=is_whole or is_inside)


def _matched(text: str, target: Word, program: Program, into: Collector) -> None:
    """What a pattern matches. A star does not match hidden names."""
    start, _, last = text.rpartition("/")
    if last.startswith("."):
        into.tree(target, Word(start or ".", start or "."), program.cwd)


def _copied_one(source: Word, target: Word, program: Program, into: Collector, *, is_over: bool) -> None:
    """One tree: over the target, or below it unless the target is new."""
    text = source.text
    last = re.split(r"[/:]", text.rstrip("/"))[-1]
    is_known = source.known and not (REMOTE.match(text) and not text.startswith(("/", ".")))
    into.tree(target if is_over else _below(target, last), source if is_known else None, program.cwd)
    if not is_over:
        into.tree(target, source if is_known else None, program.cwd, only_if_new=True)


def _below(folder: Word, name: str) -> Word:
    return Word(f"{folder.text.rstrip('/')}/{name}", f"{folder.source.rstrip('/')}/{name}")


def _unpacked(folder: Word, source: Word | None, program: Program, into: Collector, names: Sequence[Word] = ()) -> None:
    """An archive that is unpacked, or only these names of it: a tree, and any file there may be written."""
    into.tree(folder, source, program.cwd)
    for name in names or [Word("**", "**", True)]:
        into.write(below([folder] if folder != HERE else [], name), program.cwd)


def _tar(program: Program, row: ProgramRow, into: Collector) -> None:
    options = sort_options(dashed(program.words), row.values)
    if options.has("-x", "--extract", "--get") and not options.has("-O", "--to-stdout"):
        folders = options.values("-C", "--directory") or [HERE]
        if tops := options.values("--one-top-level"):
            folders = [below(folders[-1:], tops[-1])]
        # With a pattern for new names, the archive's own say nothing.
        is_plain = not options.has("--transform", "--xform", "--strip-components", "-s", "-P", "--absolute-names")
        archives = options.values("-f", "--file") if is_plain else []
        for word in options.rest:  # only these
            into.tree(below(folders[-1:], word), None, program.cwd)
        if not options.rest:
            _unpacked(folders[-1], archives[0] if archives and archives[0].text != "-" else None, program, into)


def dashed(words: Sequence[Word]) -> list[Word]:
    """`tar xf`, the old style, with its dash."""
    first, rest = words[:1], words[1:]
    if first and not first[0].text.startswith("-") and first[0].known:
        return [Word(f"-{first[0].text}", f"-{first[0].source}"), *rest]
    return [*words]


def _unzip(program: Program, row: ProgramRow, into: Collector) -> None:
    options = sort_options(program.words, row.values)
    if options.rest and not options.has("-l", "-t", "-p", "-v", "-Z", "-z"):
        _unpacked((*options.values("-d"), HERE)[0], options.rest[0], program, into)


def _seven(program: Program, _row: ProgramRow, into: Collector) -> None:
    texts = [word.text for word in program.words]
    if texts[:1] == ["x"] or texts[:1] == ["e"]:
        folders = [Word(word.text[2:], word.source[2:]) for word in program.words if word.text.startswith("-o")]
        _unpacked((*folders, HERE)[0], None, program, into)


def _unrar(program: Program, _row: ProgramRow, into: Collector) -> None:
    rest = sort_options(program.words).rest
    if rest[:1] and rest[0].text in ("x", "e"):
        _unpacked(rest[-1] if len(rest) > 2 else HERE, None, program, into)


def _here(program: Program, _row: ProgramRow, into: Collector) -> None:
    """`cpio -i` and `pax -r`: in the current folder, or the one that an option names; `-p` and `-rw`: in the last."""
    options = sort_options(program.words, UNPACKING_VALUES)
    is_pass = options.has("-p", "--pass-through") or (options.has("-r") and options.has("-w"))
    if is_pass or options.has("-i", "-r", "-x", "--extract"):
        folders = options.rest[-1:] if is_pass else options.values(*UNPACKED_INTO)
        _unpacked((*folders, HERE)[0], None, program, into, () if is_pass else options.rest)


def _ar(program: Program, _row: ProgramRow, into: Collector) -> None:
    """`jar xf`, `ar x`: the first word has the letter."""
    options = sort_options(program.words, UNPACKING_VALUES)
    if options.has("-x", "--extract") or "x" in program.words[0].text if program.words else False:
        _unpacked((*options.values(*UNPACKED_INTO), HERE)[0], None, program, into)


def _dpkg(program: Program, _row: ProgramRow, into: Collector) -> None:
    texts = [word.text for word in program.words]
    place = next((at for at, text in enumerate(texts) if text in ("-x", "-X", "--extract", "--vextract")), -1)
    if place >= 0:
        _unpacked((*program.words[place + 2 : place + 3], HERE)[0], None, program, into)


def _modules(program: Program, _row: ProgramRow, into: Collector) -> None:
    """`python -m zipfile -e ARCHIVE FOLDER`, and tarfile's."""
    texts = [word.text for word in program.words]
    place = next((at for at, text in enumerate(texts) if text in ("-e", "--extract")), -1)
    if place >= 0:
        words = [word for word in program.words[place + 1 :] if not word.text.startswith("-")]
        _unpacked((*words[1:2], HERE)[0], words[0] if words else None, program, into)


def _wget(program: Program, row: ProgramRow, into: Collector) -> None:
    options = sort_options(program.words, row.values)
    many = ("-r", "--recursive", "-m", "--mirror", "-x", "--force-directories", "-i", "--input-file", "-p")
    if options.has(*many):
        into.tree((*options.values("-P", "--directory-prefix"), HERE)[0], None, program.cwd)


def _cloud(program: Program, row: ProgramRow, into: Collector) -> None:
    """Copies from another machine or a container into a folder here."""
    given = copied_between(program, row)
    if len(given) > 1 and ":" in given[-2].text:
        into.tree(given[-1], None, program.cwd)


def copied_between(program: Program, row: ProgramRow) -> tuple[Word, ...]:
    """What a sub-command copies between this machine and others: the sources, and the target."""
    rest = sort_options(program.words, CLOUD_VALUES).rest
    texts = [word.text for word in rest]
    for verb in [each.split() for each in row.copies.split("|")]:
        place = next((at for at in range(len(rest)) if texts[at : at + len(verb)] == verb), -1)
        if verb and place >= 0:
            return rest[place + len(verb) :]
    return ()


def _patch(program: Program, row: ProgramRow, into: Collector) -> None:
    options = sort_options(program.words, row.values)
    for folder in options.values("-d", "--directory"):
        into.tree(folder, None, program.cwd)


def _stow(program: Program, row: ProgramRow, into: Collector) -> None:
    options = sort_options(program.words, row.values)
    for folder in options.values("-t", "--target"):
        for word in options.rest:
            into.tree(folder, word, program.cwd)


def _git(program: Program, _row: ProgramRow, into: Collector) -> None:
    """A checkout into a folder other than the one it runs in."""
    found = operation_of(program)
    if found is None or found[0].verb not in GIT_TREES:
        return
    operation, options = found
    for word in options.values("--prefix"):
        into.tree(word, None, program.cwd)
    if operation.folder and operation.folder != (program.cwd or ""):
        into.tree(operation.folder, None, program.cwd)


UNPACKING_VALUES = "DCfEFIHs directory output dir"
UNPACKED_INTO = ("-D", "--directory", "-C", "--output", "--dir")
CLOUD_VALUES = "nc profile region endpoint-url exclude include namespace container acl f config"
"""Options with a value of the programs that copy between machines."""

TREES: dict[Tree, Callable[[Program, ProgramRow, Collector], None]] = {
    "copy": _copy, "over": _copy, "sync": _copy, "move": _copy, "tar": _tar, "unzip": _unzip, "git": _git,
    "seven": _seven, "unrar": _unrar, "here": _here, "ar": _ar, "dpkg": _dpkg, "module": _modules, "wget": _wget,
    "cloud": _cloud, "patch": _patch, "stow": _stow,
}  # fmt: skip


# -- what a tree holds

MAX_ARCHIVE_BYTES = 32 * 1024 * 1024
MAX_NAMES = 20_000


def names_in(source: str) -> frozenset[str] | None:
    """The names in an archive, as they would be unpacked; None if they cannot be listed, or lead out of its folder."""
    import tarfile
    import zipfile

    try:
        if not os.path.isfile(source) or os.path.getsize(source) > MAX_ARCHIVE_BYTES:
            return None
        if zipfile.is_zipfile(source):
            with zipfile.ZipFile(source) as archive:
                names = archive.namelist()
        else:
            with tarfile.open(source) as unpacked:
                members = [*islice(unpacked, MAX_NAMES)]
            if any(each.issym() or each.islnk() for each in members):
                return None  # the next name may go through it
            names = [each.name for each in members]
    except Exception:  # noqa: BLE001 (whatever is wrong with it: its names are not known)
        return None
    if len(names) >= MAX_NAMES or any(name.startswith("/") or ".." in name.split("/") for name in names):
        return None
    return frozenset(os.path.normpath(name) for name in names)


def holds(source: str, name: str) -> bool | None:
    """Whether a tree, or an archive, has something at a path inside; None if that is not known."""
    if os.path.isdir(source):
        return os.path.lexists(os.path.join(source, name))
    names = names_in(source)
    if names is None:
        return None
    return any(each == name or each.startswith(f"{name}/") for each in names)
