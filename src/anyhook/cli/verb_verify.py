"""`anyhook verify`: check that the journal was not changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyhook.cli import DONE, FINDINGS, BadCall, render
from anyhook.cli.journal_input import FromOption, check_not_journal, folder_of
from anyhook.cli.options import JsonOptions, option
from anyhook.cli.verbs import verb
from anyhook.cli.view.progress import progress
from anyhook.journal.machines import machines_in, name_of
from anyhook.journal.verify import Proof, head_of
from anyhook.journal.verify import verify as check
from anyhook.model import lean_json
from anyhook.model.json_types import Json

if TYPE_CHECKING:
    from anyhook.journal.writer import Link


class VerifyOptions(JsonOptions, FromOption):
    head: str | None = option("--head", "A head exported earlier: the journal must still contain it.", "FILE")
    export_head: str | None = option("--export-head", "Write the head to this file, to keep it elsewhere.", "FILE")


@verb("verify", VerifyOptions, "anyhook verify --export-head /media/usb/journal-head.json")
def verify(options: VerifyOptions) -> int:
    """Check that no record of the journal was edited, deleted or moved since it was written. Records cut off at the end
    are noticed only with a head that was exported before. Exits with status 1 if something is wrong."""
    folder = folder_of(options)
    if machines_in(folder):
        return _verify_all(folder, options)
    if options.export_head is not None:
        check_not_journal("--export-head", options.export_head, folder)
    expected = _expected(options.head) if options.head is not None else None
    with progress("checking the journal") as tell:
        proof = check(folder, expected, tell)
    if options.export_head is not None:
        _export(options.export_head, proof.head)
    if options.json:
        render.json_out(_as_dict(proof), indent=2)
        return FINDINGS if proof.damage else DONE
    for each in proof.damage:
        render.out(f"{each.kind}: {each.what} ({each.where or folder})")
    if proof.torn:
        render.say(
            f"The journal ends with {proof.torn} bytes of an unfinished line: its writer was killed or lost power. "
            "The next record will say so."
        )
    if proof.first > 1:
        render.say(f"The journal begins with record {proof.first}; earlier ones are gone.")
    if proof.damage:
        render.out(f"{proof.records} records, {len(proof.damage)} place(s) were changed after they were written")
        return FINDINGS
    head = proof.head
    until = f"; the head is record {head['n']}, {head['hash']}" if isinstance(head, dict) else ""
    render.out(f"{proof.records} records, none changed since they were written{until}")
    return DONE


def _as_dict(proof: Proof) -> dict[str, Json]:
    damage: list[Json] = [each.as_dict() for each in proof.damage]
    return {**{field: getattr(proof, field) for field in proof.fields}, "damage": damage}


def _verify_all(folder: str, options: VerifyOptions) -> int:
    """The journals of many machines, each a chain of its own."""
    if options.head is not None or options.export_head is not None:
        raise BadCall("a head belongs to one journal: give one machine's folder to --from.")
    proofs = {name_of(path): check(path) for path in machines_in(folder)}
    damage = [(name, each) for name, proof in proofs.items() for each in proof.damage]
    records = sum(proof.records for proof in proofs.values())
    if options.json:
        told: list[Json] = [each.as_dict() for _, each in damage]
        machines: dict[str, Json] = {name: _as_dict(proof) for name, proof in proofs.items()}
        render.json_out({"records": records, "damage": told, "machines": machines}, indent=2)
        return FINDINGS if damage else DONE
    for name, each in damage:
        render.out(f"{name}: {each.kind}: {each.what} ({each.where})")
    what = f"{len(damage)} place(s) were changed after they were written" if damage else "none changed"
    render.out(f"{records} records of {len(proofs)} machines, {what}")
    return FINDINGS if damage else DONE


def _expected(path: str) -> Link:
    try:
        with open(path, encoding="utf-8") as file:
            return head_of(file.read())
    except OSError as error:
        raise BadCall(f"--head {path}: the file cannot be read ({error.strerror}).") from None
    except ValueError as error:
        raise BadCall(f"--head {path}: {error}. `anyhook verify --export-head FILE` writes one.") from None


def _export(path: str, head: object) -> None:
    if not isinstance(head, dict):
        raise BadCall("the journal has no records, so it has no head to export.")
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(lean_json.dumps(head) + "\n")
    except OSError as error:
        raise BadCall(f"--export-head {path}: the file cannot be written ({error.strerror}).") from None
