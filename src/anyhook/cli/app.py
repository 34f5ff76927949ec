"""The command line: one click group, one verb per file, and the one place where errors become messages."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

import click

from anyhook import __version__
from anyhook.cli import BAD_CALL, BadCall, render
from anyhook.journal.files import UnreadableJournal
from anyhook.satellites import PACKAGE, Missing, missing, needed
from anyhook.tables.shapes import guess

# Verb → (module, one line of help). A verb's module is loaded when it is called.
VERBS = {
    "setup": ("anyhook.cli.verb_setup", "Find your agents, turn the guards on, install, and prove it."),
    "add": ("anyhook.cli.verb_add", "Turn guards on, or add rules from elsewhere."),
    "remove": ("anyhook.cli.verb_add", "Turn guards or other rules off again."),
    "guards": ("anyhook.cli.verb_guards", "Show the packs of rules, and which are on."),
    "policy": ("anyhook.cli.verb_policy", "Use a team's signed policy, or show those in use."),
    "update": ("anyhook.cli.verb_update", "Look for newer versions, and what they would change."),
    "rule": ("anyhook.cli.verb_rule", "Show one rule: what it refuses, why, and how to relax it."),
    "relax": ("anyhook.cli.verb_rule", "Write an exception to a rule."),
    "try": ("anyhook.cli.verb_try", "Show what the guards say about one shell line."),
    "fire": ("anyhook.cli.verb_fire", "Run the hooks of one event, as an agent would."),
    "list": ("anyhook.cli.verb_list", "List every hook, in the order they run."),
    "status": ("anyhook.cli.verb_status", "Show whether the guards of this project are on."),
    "check": ("anyhook.cli.verb_check", "Read every hook file and report what is wrong."),
    "explain": ("anyhook.cli.verb_explain", "Show which hooks an event would run, which it would not, and why."),
    "trust": ("anyhook.cli.verb_trust", "Review a project's hooks and approve them."),
    "new": ("anyhook.extra.testing.verb_new", "Write a working hook."),
    "enable": ("anyhook.cli.verb_switch", "Turn a hook on."),
    "disable": ("anyhook.cli.verb_switch", "Turn a hook off without deleting it."),
    "shadow": ("anyhook.cli.verb_shadow", "Let a hook or a rule run without its decisions counting."),
    "enforce": ("anyhook.cli.verb_shadow", "Let the decisions of a hook or a rule count."),
    "report": ("anyhook.cli.verb_report", "Show what a hook or a rule stopped, or would have stopped."),
    "allow-once": ("anyhook.cli.verb_allow_once", "Let one refused call pass, once; only at a terminal."),
    "approvals": ("anyhook.cli.verb_approvals", "Show the calls that wait for you, and answer them."),
    "get": ("anyhook.cli.verb_answer", "In a hook: print a field of the call."),
    "deny": ("anyhook.cli.verb_answer", "In a hook: refuse, and say why."),
    "ask": ("anyhook.cli.verb_answer", "In a hook: let a person decide."),
    "context": ("anyhook.cli.verb_answer", "In a hook: tell the model something."),
    "schema": ("anyhook.cli.verb_schema", "Print the JSON Schema of a dialect's hook file."),
    "facts": ("anyhook.cli.verb_facts", "Show what a tool call would do, as rules see it."),
    "dialects": ("anyhook.cli.verb_dialects", "Show what each dialect's hooks can do."),
    "conform": ("anyhook.extra.testing.verb_conform", "Run the conformance vectors."),
    "agent": ("anyhook.extra.agent.verb_agent", "Run our own coding agent; its loop fires every event."),
    "install": ("anyhook.cli.verb_install", "Make an agent call anyhook, so that your hooks run in it."),
    "uninstall": ("anyhook.cli.verb_uninstall", "Remove anyhook from an agent's config."),
    "doctor": ("anyhook.cli.verb_doctor", "Check your agents, and what keeps anyhook from working in them."),
    "warm": ("anyhook.extra.warm.verb_warm", "Show the server that answers agents faster, or stop it."),
    "bridge": ("anyhook.cli.verb_bridge", "Answer an agent that runs its hooks."),
    "mcp": ("anyhook.extra.frameworks.verb_mcp", "Run an MCP server behind your hooks."),
    "convert": ("anyhook.extra.testing.verb_convert", "Convert hooks from one dialect to another, with proof."),
    "ci": ("anyhook.cli.verb_ci", "Fail if a required gate is off."),
    "test": ("anyhook.extra.testing.verb_test", "Run the test cases of your hooks."),
    "record": ("anyhook.extra.testing.verb_record", "Turn recorded events into test cases."),
    "log": ("anyhook.cli.verb_log", "Print the journal of fired events."),
    "watch": ("anyhook.cli.verb_watch", "Watch events in the terminal as they happen."),
    "serve": ("anyhook.cli.verb_serve", "Show the journal live in the browser."),
    "stats": ("anyhook.cli.verb_stats", "Show what each hook did, and what it cost."),
    "verify": ("anyhook.cli.verb_verify", "Check that nobody has changed the journal."),
    "replay": ("anyhook.cli.verb_replay", "Judge recorded runs again by today's rules."),
    "backtest": ("anyhook.cli.verb_backtest", "Try hooks on recorded events."),
    "export": ("anyhook.cli.verb_export", "Export records for other programs."),
    "ship": ("anyhook.cli.verb_ship", "Send the journal to a collector, or into a directory of many machines."),
    "import": ("anyhook.cli.verb_import", "Import the transcripts of your agents."),
    "completion": ("anyhook.cli.verb_completion", "Print a shell's completion script."),
}

# Groups in the help; a verb that is in none of them comes last.
GROUPS = {
    "Begin": ("setup", "add", "remove", "guards", "policy", "update", "install", "uninstall", "doctor", "status"),
    "Hooks and rules": (
        "new",
        "check",
        "list",
        "trust",
        "enable",
        "disable",
        "shadow",
        "enforce",
        "report",
        "rule",
        "relax",
        "allow-once",
        "approvals",
    ),
    "Try it": ("try", "fire", "explain", "facts", "test", "record", "backtest", "replay", "agent"),
    "In a shell script that is a hook": ("get", "deny", "ask", "context"),
    "What happened": ("log", "watch", "serve", "stats", "verify", "export", "ship", "import"),
}


class Verbs(click.Group):
    """A group that imports a verb only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in VERBS:
            return None
        place = VERBS[name][0]
        outside = place.removeprefix(f"{PACKAGE}.")
        module = import_module(place) if outside == place else needed(outside)
        command: click.Command = getattr(
            module, f"{name}_" if name in ("list", "import", "try") else name.replace("-", "_")
        )
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        grouped = [name for names in GROUPS.values() for name in names]
        rest = tuple(name for name in VERBS if name not in grouped)
        for title, names in {**GROUPS, "More": rest}.items():
            with formatter.section(title):
                formatter.write_dl([(name, VERBS[name][1]) for name in names if name in VERBS])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            raise click.UsageError(f"There is no verb `{args[0]}`.{guess(args[0], VERBS)}", ctx)
        return super().resolve_command(ctx, args)


EPILOG = """\b
Try:
  anyhook setup                find your agents, turn the guards on, install, prove
  anyhook add guard            turn the guards on
  anyhook try 'git push --force'
"""


@click.group(
    cls=Verbs,
    epilog=EPILOG,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
@click.version_option(__version__, prog_name="anyhook")
@click.pass_context
def app(ctx: click.Context) -> int | None:
    """One runtime for the lifecycle hooks of AI coding agents."""
    if ctx.invoked_subcommand is not None:
        return None
    from anyhook.cli.greeting import greet

    return greet()


def run(words: Sequence[str]) -> int:
    """Run a command line; returns the exit status."""
    try:
        status = app.main(list(words), prog_name="anyhook", standalone_mode=False)
    except click.ClickException as error:
        where = f"{error.ctx.command_path}: " if isinstance(error, click.UsageError) and error.ctx else "anyhook: "
        render.say(f"{where}{error.format_message()}")
        if isinstance(error, click.UsageError) and error.ctx:
            render.say(f"Try `{error.ctx.command_path} --help`.")
        return BAD_CALL
    except (BadCall, Missing) as error:
        render.say(f"anyhook {words[0] if words else ''}: {error}")
        return BAD_CALL
    except ModuleNotFoundError as error:
        lacking = missing(error)  # a satellite that needs another one
        if lacking is None:
            raise
        render.say(f"anyhook {words[0]}: {lacking}")
        return BAD_CALL
    except UnreadableJournal as error:
        why = f"{error.filename} ({error.strerror})"
        render.say(f"anyhook {words[0]}: the journal cannot be read: {why}. Let its user read it, or move it away.")
        return BAD_CALL
    except (KeyboardInterrupt, click.Abort):
        render.say("interrupted")
        return 130
    except BrokenPipeError:
        return 0
    return status if isinstance(status, int) else 0
