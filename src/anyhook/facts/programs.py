"""One program's facts: the paths, addresses and operations in its command line."""

from __future__ import annotations

import re

from anyhook.facts.by_table import URL, by_table, is_stream
from anyhook.facts.clients import look_at_files
from anyhook.facts.effects import EFFECTS, TEXT_ONLY, Effect
from anyhook.facts.escapes import look_at_escapes
from anyhook.facts.output_options import look_at_outputs
from anyhook.facts.special import SPECIAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.facts.collect import Collector
    from anyhook.shell.program import Program, Word

WRITES_DEVICE = re.compile(r"mkfs(\..+)?|mke2fs|newfs(_\w+)?|mkntfs|mkdosfs|mkfs_\w+")


def look_at(program: Program, into: Collector) -> None:
    """Add what one program does."""
    for redirection in program.redirections:
        if program.remote or is_stream(redirection.target):
            continue
        if _network(redirection.target, into):
            continue
        if redirection.writes:
            into.write(redirection.target, program.cwd)
            if redirection.sign in (">", ">|") and _says_nothing(program):
                into.empty(redirection.target, program.cwd)
        if redirection.reads:
            into.read(redirection.target, program.cwd)
    if not program.name:
        return
    special = SPECIAL.get(program.name)
    effect = EFFECTS.get(program.name)
    if effect is None and program.name[:2] in ("mk", "ne") and WRITES_DEVICE.fullmatch(program.name):
        effect = Effect("tLbNiIOmEUFsSc", writes="last")
    if special is not None:
        special(program, into)
    elif effect is not None:
        by_table(program, effect, into)
    look_at_escapes(program, into)
    look_at_files(program, into)
    look_at_outputs(program, into)
    for redirection in program.redirections:
        if redirection.sign in (">", ">|") and not program.remote and redirection.target.known:
            _overwrites_itself(program, redirection.target, into)
    if program.name not in TEXT_ONLY and special is None and (effect is None or not effect.connects):
        for word in program.words:
            if "://" in word.source:
                for url in URL.findall(word.source):
                    into.connect(url)


def _says_nothing(program: Program) -> bool:
    """Whether it is known to print nothing, so that a file it is redirected to is empty afterwards."""
    texts = [word.text for word in program.words]
    if program.name in ("echo", "printf"):
        return not any(text for text in texts if text != "-n")
    if program.name in ("cat", "head", "tail", "sort", "sed", "grep"):
        return texts[-1:] == ["/dev/null"] or (not texts and program.stdin == "")
    return program.name in (":", "true") or (program.path == "" and program.stdin == "")


def _overwrites_itself(program: Program, target: Word, into: Collector) -> None:
    """`sort FILE > FILE`: a shell empties the file before the program reads it."""
    effect = EFFECTS.get(program.name)
    if effect and effect.reads and any(word.text == target.text for word in program.words):
        into.empty(target, program.cwd)


def _network(word: Word, into: Collector) -> bool:
    """`/dev/tcp/host/port`, which bash opens as a connection."""
    found = re.match(r"/dev/(?:tcp|udp)/([^/]+)(?:/(.*))?", word.source) if word.source.startswith("/dev/") else None
    if found:
        into.connect(f"tcp://{found[1]}:{found[2]}" if found[2] else found[1])
    return found is not None
