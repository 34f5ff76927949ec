"""`anyhook policy`: a team's signed policies: pulled from a repository or a folder, shown, removed."""

from __future__ import annotations

import os
import shlex
from datetime import datetime

import click

from anyhook.cli import DONE, FINDINGS, BadCall, render
from anyhook.cli.options import JsonOptions, option, repeated, switch
from anyhook.cli.person import require_person
from anyhook.cli.verb_add import remember
from anyhook.cli.verbs import verb
from anyhook.documents.files import Files
from anyhook.install import policy as policies
from anyhook.install.policy import BadKey, PolicyRefused, read_keys
from anyhook.model.json_types import Json
from anyhook.model.words import HookScope
from anyhook.platform.places import state_dir, user_id
from anyhook.state.policies import BROKEN, CURRENT, FOLDER, INDEX, Policy, base_of_scope, read_policies
from anyhook.state.switches import Switches

ROOT = "root must own the organisation's policies: run it as root, or leave out --managed."


class PolicyOptions(JsonOptions):
    key: tuple[str, ...] = repeated("--key", "With pull: its signer's OpenSSH public key; may be repeated.", "FILE")
    signers: str | None = option("--signers", "With the first pull: how many of the keys must have signed it.", "N")
    managed: bool = switch("--managed", "For every user of this machine. Only root can do that.")


@verb(
    "policy", PolicyOptions, "anyhook policy pull https://example.org/policy.git --key team.pub",
    [click.Argument(["words"], nargs=-1)],
)  # fmt: skip
def policy(words: tuple[str, ...], options: PolicyOptions) -> int:
    """Show the policies of your team that count here, `pull` one, or `remove` one.

    WORDS is `pull SOURCE` or `remove NAME`. SOURCE is a folder or the address of a git repository, with @REV for a
    revision and #FOLDER for a folder in it. What you pull must be signed by the key that the first pull names. It is
    installed as a whole or not at all, and a version never goes back. It fetches only when you say so.

    \b
    Exit status: 0 done, 1 refused, 3 bad call.
    """
    if not words:
        return _show(options)
    if len(words) != 2 or words[0] not in ("pull", "remove"):
        raise BadCall("write `anyhook policy`, `anyhook policy pull SOURCE` or `anyhook policy remove NAME`.")
    require_person(f"policy {words[0]}")
    if options.managed and user_id() != 0:
        raise BadCall(ROOT)
    try:
        return _pull(words[1], options) if words[0] == "pull" else _remove(words[1], options)
    except PolicyRefused as why:
        kept = " The version that is installed still counts." if why.keeps else ""
        render.say(f"anyhook policy: {words[1]} was refused: {why}.{kept}")
        return FINDINGS
    except BadKey as why:
        raise BadCall(f"--key: {why}.") from None
    except OSError as error:
        raise BadCall(f"{error.filename or words[1]} cannot be written ({error.strerror}).") from None


def _pull(what: str, options: PolicyOptions) -> int:
    keys = [key for path in options.key for key in read_keys(path)]
    scope: HookScope = "managed" if options.managed else "user"
    base = base_of_scope(scope, os.environ)
    before = {each.manifest for each in read_policies(os.environ, Files(), (scope,))}
    made = policies.pull(what, base, scope, tuple(dict.fromkeys(keys)), _threshold(options, len(keys)))
    if not options.managed:
        remember(f"{base}/{INDEX}", [f"{FOLDER}/{made.name}"])
    if options.json:
        render.json_out(_row(made), indent=2)
        return DONE
    count = len(made.files)
    files = f"{count} file{'' if count == 1 else 's'}"
    news = "counts already; there is none newer" if made.manifest in before else "counts from now on"
    render.out(f"{made.name}, version {made.version}, {news}: {files}, signed.")
    render.say("See what it has:  anyhook policy, anyhook list, anyhook check")
    render.say(f"Undo it:  {shlex.join(['anyhook', 'policy', 'remove', made.name, *_managed(made)])}")
    return DONE


def _threshold(options: PolicyOptions, keys: int) -> int | None:
    if options.signers is None:
        return None
    if not options.signers.isdecimal() or not 1 <= int(options.signers) <= max(keys, 1):
        raise BadCall(f"--signers {options.signers}: must be a whole number, from 1 to the number of keys.")
    return int(options.signers)


def _remove(name: str, options: PolicyOptions) -> int:
    scope: HookScope = "managed" if options.managed else "user"
    is_there = policies.remove(name, base_of_scope(scope, os.environ), scope)
    was_missed = not options.managed and Switches(state_dir(os.environ)).forget([f"{FOLDER}/{name}"])
    if not (is_there or was_missed):
        others: tuple[HookScope, ...] = ("managed", "user")
        there = {each.name: each for each in read_policies(os.environ, Files(), others)}.get(name)
        fix = " It is the organisation's: root removes it with --managed." if there and there.scope == "managed" else ""
        raise BadCall(f"there is no policy `{name}`.{fix}")
    if options.json:
        render.json_out({"removed": name})
    else:
        render.out(f"{name} is off." + ("" if is_there else " It was gone already; from now on it is not missed."))
    return DONE


def _managed(policy: Policy) -> list[str]:
    return ["--managed"] if policy.scope == "managed" else []


def _show(options: PolicyOptions) -> int:
    files = Files()
    found = read_policies(os.environ, files)
    if options.json:
        rows: list[Json] = [_row(each) for each in found]
        render.json_out({"policies": rows}, indent=2)
        return DONE
    for each in found:
        when = f"{datetime.fromtimestamp(each.pulled / 1e9):%Y-%m-%d %H:%M}"
        why = f" ({_why(each)})" if _why(each) else ""
        render.out(f"{each.name} {each.version}  {each.scope}  {_state(each)}{why}")
        render.out(f"  from {each.source}, pulled {when}, signed by {', '.join(each.keys)}")
        if each.agents:
            render.out("  tried with " + ", ".join(f"{agent} {version}" for agent, version in each.agents.items()))
    for line in render.problem_lines(files.problems):
        render.say(line)
    if not found:
        render.say("There is no policy here. A team's is added with: anyhook policy pull SOURCE --key FILE")
    return DONE


def _row(policy: Policy) -> dict[str, Json]:
    return {
        "name": policy.name,
        "source": policy.source,
        "version": policy.version,
        "key": "\n".join(policy.keys),
        "pulled": policy.pulled,
        "state": _state(policy),
        "why": _why(policy),
    }


def _state(policy: Policy) -> str:
    return BROKEN if policy.damage else policy.state


def _why(policy: Policy) -> str:
    return policy.damage or (policy.why if policy.state != CURRENT else "")
