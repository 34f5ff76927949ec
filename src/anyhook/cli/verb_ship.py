"""`anyhook ship`: send the journal's lines to a collector, or into a directory that machines share."""

from __future__ import annotations

import os
import time

from anyhook import __version__
from anyhook.cli import DONE, FINDINGS, BadCall, render
from anyhook.cli.options import JsonOptions, option, switch
from anyhook.cli.person import require_person
from anyhook.cli.standing import status_of
from anyhook.cli.verbs import verb
from anyhook.gates.gate import SAFE_STATES
from anyhook.gates.versions import number_in
from anyhook.journal.ship import (
    SHIP_FOLDER,
    CannotShip,
    Destination,
    Directory,
    MachineStatus,
    OtlpCollector,
    Sent,
    Shipper,
    headers_of,
)
from anyhook.model.json_types import Json
from anyhook.model.lean_json import short_digest
from anyhook.platform.locks import locked
from anyhook.platform.places import home_of, state_dir
from anyhook.state.plans import Setup

LOOK_S, MAX_PAUSE_S = 2.0, 60.0
"""How often it looks for new lines, and the longest pause after something went wrong."""
OTHER_SHIP_S = 5.0
STATUS_S = 600.0
"""How often it says again how this machine stands."""
OTLP_HEADERS = "OTEL_EXPORTER_OTLP_HEADERS"


class ShipOptions(JsonOptions):
    to: str | None = option("--to", "The address of an OTLP collector, or a directory.", "URL|DIR")
    once: bool = switch("--once", "Send what is there, and end.")


@verb("ship", ShipOptions, "anyhook ship --to http://localhost:4318 --once")
def ship(options: ShipOptions) -> int:
    """Send the journal's lines, redacted as they are, to an OTLP/HTTP collector (http://HOST:4318), or into a directory
    that many machines share; `--from DIR` of other verbs reads it. A directory also gets the versions of this machine's
    agents and which guards are off. Each line is sent at least once, in order. Where it
    stopped is kept per destination, so nothing is left out, whatever ends it. Without --once it goes on until Ctrl-C.

    \b
    Exit status: 0 everything is sent, 1 something could not be sent, 3 bad call.
    """
    require_person("ship")
    name, to = _destination(options.to)
    folder = state_dir(os.environ)
    with locked(f"{folder}/{SHIP_FOLDER}", f"{short_digest(name)}.lock", wait_s=OTHER_SHIP_S) as has_it:
        if not has_it:
            render.say(f"anyhook ship: another process is sending to {name}.")
            return FINDINGS
        if hasattr(os, "nice"):
            os.nice(10)  # agents come first
        shipper = Shipper(folder, name, to)
        return _once(shipper, options) if options.once else _go_on(shipper, options)


def _destination(to: str | None) -> tuple[str, Destination]:
    if not to:
        raise BadCall("say where: --to http://HOST:4318, or --to DIR.")
    if "://" not in to:
        folder = os.path.realpath(os.path.expanduser(to))
        if os.path.exists(folder) and not os.path.isdir(folder):
            raise BadCall(f"--to {to}: this is not a directory.")
        return folder, Directory(folder)
    try:
        return to, OtlpCollector(to, headers_of(os.environ.get(OTLP_HEADERS, "")), __version__)
    except ValueError as error:
        raise BadCall(f"--to {to}: {error}.") from None


def _status() -> MachineStatus:
    """What this machine says about itself: its agents, and the guards that count in every project."""
    env = dict(os.environ)
    here = status_of(Setup.of(home_of(env), env), may_start=True)
    agents = tuple(
        (name, number_in(agent.version.said) or "") for name, agent in here.agents.items() if agent.installed
    )
    off = tuple(gate.id for gate in here.gates if gate.state not in SAFE_STATES)
    return MachineStatus(__version__, agents, off, here.held and not here.unasked)


def _once(shipper: Shipper, options: ShipOptions) -> int:
    try:
        sent = shipper.send()
        shipper.tell(_status())
        _tell(shipper, sent, options)
    except CannotShip as why:
        render.say(f"anyhook ship: {why}. What is left is sent the next time.")
        return FINDINGS
    return DONE


def _go_on(shipper: Shipper, options: ShipOptions) -> int:
    pause_s, told, due_s = LOOK_S, "", 0.0
    while True:
        try:
            sent = shipper.send()
            pause_s, told = LOOK_S, ""
            if time.monotonic() >= due_s:
                shipper.tell(_status())
                due_s = time.monotonic() + STATUS_S
            if sent.records:
                _tell(shipper, sent, options)
        except CannotShip as why:
            if str(why) != told:
                render.say(f"anyhook ship: {why}." + (" It is tried again." if why.may_end else ""))
            if not why.may_end:
                return FINDINGS
            pause_s, told = min(MAX_PAUSE_S, pause_s * 2), str(why)
        time.sleep(pause_s)


def _tell(shipper: Shipper, sent: Sent, options: ShipOptions) -> None:
    if sent.lost:
        render.say(f"anyhook ship: {sent.lost} records were deleted because of their age before they could be sent.")
    if options.json:
        told: dict[str, Json] = {"to": shipper.name, "machine": shipper.machine, "sent": sent.records}
        render.json_out({**told, "last": sent.cursor.n, "lost": sent.lost})
    else:
        render.out(f"sent {sent.records} records to {shipper.name}, up to number {sent.cursor.n}")
