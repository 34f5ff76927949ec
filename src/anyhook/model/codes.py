"""The table of anyhook's own problem codes: severity, meaning and fix of each. A dialect's own error ids are in that
dialect's table."""

from __future__ import annotations

from anyhook.model.record import Record
from anyhook.model.words import ERROR, WARNING


class Code(Record):
    """What one code stands for."""

    group: str
    """The section of the error page that lists it."""
    severity: str
    """The severity that `check` shows. While hooks run, a value in `CORRECTED` is only a warning."""
    meaning: str
    """Why this is a problem, in one sentence."""
    fix: str
    """What to do, where the problem itself does not say."""


FILE, ENTRY, COMMAND, PLACE, ANSWER, RUN, OWN = "file", "entry", "command", "place", "answer", "run", "own"

GROUPS = {
    FILE: "Hook files that cannot be read",
    ENTRY: "Declarations that are wrong or do nothing",
    COMMAND: "Commands that would not start",
    PLACE: "Files in the wrong place, and hooks that hide each other",
    RUN: "Hooks that failed while they ran",
    ANSWER: "Answers that could not be used",
    OWN: "Our own files and options",
}

# fmt: off
CODES = {
    "unreadable": Code(
        FILE, ERROR, "anyhook cannot read this path as a file, so it does not know its hooks.",
        "Replace it with a regular, readable file of reasonable size."),
    "project-too-large": Code(
        FILE,
        ERROR,
        "An agent waits while anyhook reads hook files, so the total for one project is limited (20 MB, 30,000 hooks,"
        " 40,000 names in folders and 512 MB of scripts and programs, among others). Above the limit, none of the"
        " project's hooks is used, in any dialect. Your own hooks still work.",
        "In the folder that is named, remove files that are not hook files, or make it smaller.",
    ),
    "dangling-link": Code(
        FILE, ERROR, "The hook file is a symbolic link, and its target does not exist.",
        "Restore the target, or remove the link."),
    "layer-failed": Code(
        FILE, ERROR, "Reading these hooks failed in an unexpected way, so none of them is used. All other hooks are.",
        "Remove anything unusual from the file, and report the line shown."),
    "not-utf8": Code(FILE, ERROR, "Hook files must be UTF-8, and this one is not.", "Save the file as UTF-8."),
    "invalid-json": Code(
        FILE, ERROR, "The file is not valid JSON, so none of its hooks can be read.",
        "Fix the line that is named. JSON allows no comments and no trailing commas."),
    "invalid-yaml": Code(
        FILE, ERROR,
        "The file is not plain YAML 1.2 (or has tags, repeated keys, too many aliases), so its hooks cannot be read.",
        "Fix the line that is named."),
    "invalid-toml": Code(
        FILE, ERROR, "The file is not valid TOML, so none of its hooks can be read.", "Fix the line that is named."
    ),
    "invalid-python": Code(
        FILE, ERROR, "The file is not valid Python, so none of its hooks can be read.", "Fix the line that is named."
    ),
    "no-front-matter": Code(
        FILE, ERROR, "The hook's fields belong between two `---` lines at the top of the file. This file has none.",
        "Start the file with a `---` line, the fields, and another `---` line."),
    "broken-agent": Code(
        OWN,
        ERROR,
        "The tables of an agent cannot be loaded, so none of its hooks is known. Every other agent works.",
        "Correct the table that the message names, or remove its package.",
    ),
    "schema-version": Code(
        FILE,
        ERROR,
        "The dialect rejects the whole file unless it has the one version it knows.",
        'Write "schema_version": 1 at the top level.',
    ),
    "yaml-backslash": Code(
        FILE, WARNING,
        "Inside double quotes a backslash starts an escape (`\\b` is a backspace). Unknown escapes stay as they are.",
        "Put patterns in single quotes."),
    "wrong-type": Code(ENTRY, ERROR, "The dialect documents another type for this value.", "Use the documented type."),
    "wrong-value": Code(ENTRY, ERROR, "The dialect does not document this value.", "Use a documented value."),
    "wrong-limit": Code(
        ENTRY, ERROR, "The time limit is not a duration or is out of the documented range. Another limit applies.",
        "Give a number in the documented range and unit."),
    "wrong-unit": Code(
        ENTRY, WARNING, "The time limit is so small or so large that you probably meant another unit.",
        "Give the limit in the unit that the dialect uses: milliseconds or seconds."),
    "repeated-key": Code(
        ENTRY, ERROR, "The file has the same key twice, and only the last one counts.",
        "Put everything under one of them."),
    "missing-key": Code(ENTRY, ERROR, "The dialect requires this key.", "Add the key."),
    "unknown-key": Code(
        ENTRY, WARNING, "The dialect has no such key, so it does nothing.", "Correct its spelling, or remove it."
    ),
    "more-problems": Code(
        ENTRY, ERROR, "The file has more problems than anyhook lists.",
        "Fix the ones that are listed, then check again."),
    "unknown-event": Code(
        ENTRY, ERROR, "The dialect has no such event, so these hooks never run.", "Use one of the dialect's events."
    ),
    "unknown-handler": Code(
        ENTRY, ERROR, "The dialect has no handler of this type.", "Use a type that the dialect documents."
    ),
    "handler-not-allowed": Code(
        ENTRY, ERROR, "The dialect does not allow this type of handler for this event.",
        "Move it to another event, or use another type."),
    "invalid-matcher": Code(
        ENTRY, ERROR, "The matcher is not a valid pattern, so the hook cannot run.", "Correct the pattern."
    ),
    "invalid-rule": Code(
        ENTRY,
        ERROR,
        "anyhook cannot read this rule, so what it guards is not guarded.",
        "Correct the rule; the message says where.",
    ),
    "ignored-value": Code(
        ENTRY,
        ERROR,
        "anyhook does not understand this value of a rule. The rule counts without it, which is stricter.",
        "Correct the value; the message says what is possible.",
    ),
    "invalid-relaxation": Code(
        ENTRY,
        ERROR,
        "anyhook does not understand this [[relax]], so its rule stays as it was.",
        "Correct it, or remove it.",
    ),
    "unknown-rule": Code(
        ENTRY, ERROR, "This [[relax]] names no rule, so it does nothing.", "Correct the name, or remove the [[relax]]."
    ),
    "unknown-pack": Code(
        ENTRY, ERROR, "The file uses a pack of rules that does not exist.", "Correct the name, or remove it from `use`."
    ),
    "damaged-pack": Code(
        ENTRY, ERROR, "A pack that comes with anyhook is empty or cut, or a package of the user has lost files.",
        "Install anyhook again, or add the package again."),
    "damaged-policy": Code(
        ENTRY, ERROR, "The files of a team's policy are not what was pulled. What it could guard is refused.",
        "Pull the policy again, or remove it with `anyhook policy remove`."),
    "policy-stale": Code(
        ENTRY, WARNING, "The source of a team's policy could not be reached. The version that is installed counts.",
        "Pull it again when the source can be reached; `anyhook policy` shows why it failed."),
    "policy-broken": Code(
        ENTRY, WARNING, "The newest version of a team's policy was refused. The version that is installed counts.",
        "See with `anyhook policy` why, and tell the team."),
    "unpinned-package": Code(
        ENTRY, WARNING, "anyhook.lock does not say what the files of a package were, so a change would not be seen.",
        "Add the package again with `anyhook add`."),
    "turned-on-gone": Code(
        ENTRY, ERROR, "Packs or rules that the user had turned on are no longer in the user's rule file.",
        "Turn them on again with `anyhook add`, or confirm with `anyhook remove` that they are off."),
    "unknown-agent": Code(
        ENTRY, WARNING, "anyhook knows no agent of this name, so the rule may never apply.",
        "Correct the name. A program that embeds anyhook may have its own name."),
    "untold-number": Code(
        ENTRY, WARNING, "A rule counts tokens or dollars, and an agent does not tell them; there it is never true.",
        "Count calls or minutes, or name the agents that the rule is for."),
    "matcher-never-matches": Code(
        ENTRY, WARNING, "This event has no value that can match, so the hook never runs.",
        "Correct the matcher, or remove it."),
    "matcher-ignored": Code(
        ENTRY, WARNING, "This event has nothing to match, so the hook runs every time.",
        "Remove the matcher, and check the payload inside the hook."),
    "async-gate": Code(
        ENTRY, WARNING, "Nothing waits for a background hook, so it cannot block, although this event can be blocked.",
        "Run it in the foreground, or move it to an event that only observes."),
    "duplicate-hook": Code(
        ENTRY, WARNING, "Two declarations are identical, so the hook runs twice.", "Remove one of them."
    ),
    "program-missing": Code(
        COMMAND, ERROR, "The program or script that the hook names does not exist.",
        "Correct the path, or install the program."),
    "not-executable": Code(
        COMMAND, ERROR, "The file exists but is not executable, so it cannot be started.",
        "Make it executable: chmod +x FILE."),
    "bad-first-line": Code(
        COMMAND, ERROR,
        "The first line of a script names the program that runs it. The program named here does not exist.",
        "Start the script with a line such as #!/bin/sh, with Unix line endings."),
    "no-entry-point": Code(
        COMMAND, ERROR, "The hook's folder has none of the scripts that the dialect looks for.",
        "Add one of the documented scripts."),
    "no-shell": Code(
        COMMAND, WARNING,
        "The command runs without a shell, so pipes, variables and wildcards are passed on as plain text.",
        "Call a shell (sh -c '…'), or put the line into a script."),
    "module-missing": Code(
        COMMAND, ERROR, "The module or function that the hook names was not found.",
        "Correct the name, or make the module importable."),
    "server-missing": Code(
        COMMAND, ERROR, "The hook calls a tool of an MCP server that is not configured, or the MCP client is missing.",
        "Add the server to the agent's MCP settings, or install anyhook[mcp]."),
    "no-event": Code(
        COMMAND, ERROR, "anyhook asked the executable for its event and got no usable answer.",
        "Make it print one of the dialect's events and exit with status 0."),
    "misplaced-file": Code(
        PLACE, WARNING, "This looks like a hook file, but the dialect does not read it here, so it is ignored.",
        "Move it to a path that the dialect reads."),
    "two-hook-files": Code(
        PLACE, WARNING, "The dialect reads one of the two files and ignores the other.", "Keep one of them."
    ),
    "same-name": Code(
        PLACE, WARNING, "The dialect identifies hooks by name, and another hook has the same name.",
        "Give each hook its own name."),
    "overridden": Code(
        PLACE, WARNING, "Another scope declares the same hook, and the dialect runs only one of them.",
        "Rename one of them if you want both to run."),
    "hook-timed-out": Code(
        RUN,
        ERROR,
        "The hook was still running at its time limit, so anyhook killed it.",
        "Make it faster, or raise its limit.",
    ),
    "hook-signalled": Code(
        RUN, ERROR, "A signal killed the hook.", "Run it by hand with the payload that `anyhook explain` shows."
    ),
    "hook-not-started": Code(
        RUN,
        ERROR,
        "The hook could not be started.",
        "Check the path, the execute permission and the first line of the script.",
    ),
    "hook-overflowed": Code(
        RUN, ERROR, "The hook printed more than 10 MB, so anyhook killed it.", "Print only the answer."
    ),
    "hook-failed": Code(
        RUN,
        ERROR,
        "The hook exited with a status that its dialect treats as a failure.",
        "Run it by hand with the payload that `anyhook explain` shows.",
    ),
    "hook-output-invalid": Code(
        RUN,
        ERROR,
        "The hook printed output that its dialect does not accept.",
        "Print one JSON object on stdout, or nothing. Print other messages on stderr.",
    ),
    "hook-cancelled": Code(
        RUN,
        ERROR,
        "anyhook killed the hook because nothing was waiting for it any more.",
        "Nothing to do if the host was closing.",
    ),
    "allowed-once": Code(
        RUN,
        WARNING,
        "A person let this one call pass at a terminal, although a hook refused it.",
        "Nothing to do; the next such call is refused again.",
    ),
    "allowed-for-session": Code(
        RUN,
        WARNING,
        "A rule would have asked, and a person has allowed what it asks about for the rest of this session.",
        "Nothing to do; in the next session it asks again.",
    ),
    "not-answered": Code(
        RUN,
        WARNING,
        "A hook asked about a call, and it was refused because no person answered in time.",
        "Let the agent try it again, and answer with `anyhook approvals allow ID` or on the page.",
    ),
    "notice-failed": Code(
        RUN,
        WARNING,
        "A person could not be told that a call waits for an answer.",
        "Correct `notify` under [ask] in config.toml, or remove it there.",
    ),
    "nested-event": Code(
        RUN,
        WARNING,
        "A hook caused this event, and hooks do not trigger other hooks.",
        "Nothing to do, unless you expected hooks to run.",
    ),
    "waiting-for-trust": Code(
        RUN,
        WARNING,
        "A project's hooks run only after you approve them.",
        "Review and approve them: anyhook trust.",
    ),
    "gate-off": Code(RUN, ERROR, "A guard is off, and `off` is `deny`.", "Run `anyhook status` to see why it is off."),
    "output-ignored": Code(
        ANSWER, WARNING, "The hook's output has no meaning in its dialect.", "Print one JSON object, or nothing."
    ),
    "unknown-output-key": Code(
        ANSWER, WARNING, "The dialect has no such key in an answer.", "Correct its spelling, or remove it."
    ),
    "unread-key": Code(ANSWER, WARNING, "Nothing reads this key of the answer.", "Correct its spelling, or remove it."),
    "foreign-refusal": Code(
        ANSWER, WARNING, "Its own dialect does not read this refusal.", "Refuse as the hook's own dialect documents."
    ),
    "wrong-output-type": Code(
        ANSWER, WARNING, "A key of the answer does not have the documented type.", "Use the documented type."
    ),
    "unknown-decision": Code(
        ANSWER, WARNING, "The answer uses a decision that the dialect does not know.", "Use a documented decision."
    ),
    "unsupported-effect": Code(
        ANSWER,
        WARNING,
        "The answer asks for something that this event does not support.",
        "Ask for it on an event that supports it.",
    ),
    "bound-reached": Code(
        ANSWER,
        WARNING,
        "The hook reached its dialect's limit for keeping the agent working in one turn, so this block is ignored.",
        "Make the hook accept a result that the agent can achieve.",
    ),
    "cannot-block": Code(
        ANSWER, WARNING, "This event cannot be blocked.", "Move the hook to an event that can be blocked."
    ),
    "rewrite-conflict": Code(
        ANSWER, WARNING, "Two hooks want different values for one field.",
        "Let one hook rewrite it, or let the second use the first one's value."),
    "partial-rewrite": Code(
        ANSWER, WARNING, "A rewritten input lacks a field that the tool needs. The field keeps its value.",
        "Print the whole input, with the fields that stay as they are."),
    "unseen-form": Code(
        ANSWER, WARNING, "The gate answered before the call was rewritten, or failed on its final form.",
        "Let one hook do both, or declare the gate for another agent too: gates of other dialects are asked again."),
    "action-lost": Code(
        ANSWER,
        WARNING,
        "The dialect performs only one action, and another hook's came first.",
        "Let one hook decide.",
    ),
    "bad-setting": Code(
        OWN,
        WARNING,
        "anyhook's config has an unknown setting, or a setting with an invalid value.",
        "Correct or remove it.",
    ),
    "managed-not-root": Code(
        OWN,
        ERROR,
        "A file of the organisation's settings or rules may have been written by someone other than root.",
        "Give the file and its folder to root, and let no one else write to them.",
    ),
    "unknown-field": Code(
        OWN, WARNING, "No dialect has a payload field with this name.", "Correct its spelling, or leave it out."
    ),
    "switches-damaged": Code(
        OWN,
        ERROR,
        "anyhook cannot read what the user turned on and off: disabled hooks run again, and what is gone is not seen.",
        "Look at `anyhook guards`, remove the file, and disable the hooks again.",
    ),
    "installs-damaged": Code(
        OWN,
        ERROR,
        "anyhook cannot read in which agents it was installed, so an entry that is gone is not seen.",
        "Remove the file, and install anyhook in your agents again.",
    ),
    "cases-not-searched": Code(
        OWN,
        WARNING,
        "The project has too many folders to search them all for case files.",
        "Run `anyhook trust` in the folder that holds the case files.",
    ),
    "ledger-refused": Code(
        OWN,
        ERROR,
        "The file of approvals is damaged, or other users can write to it, so anyhook ignores it.",
        "Remove it and approve again with `anyhook trust`.",
    ),
    "ledger-in-project": Code(
        OWN,
        ERROR,
        "The file of approvals is inside the project, so the project could change it.",
        "Set XDG_STATE_HOME to a folder outside the project.",
    ),
    "all-disabled": Code(
        ENTRY, WARNING, "A setting in this file turns hooks off.", "Remove the setting if you want the hooks to run."
    ),
    "unsupported-event": Code(
        ENTRY, WARNING, "Only the product itself knows when to run these hooks, so anyhook does not run them.",
        "Nothing to do, unless you expected them to run."),
    "bridge-failed": Code(
        OWN,
        ERROR,
        "anyhook could not judge an agent's event, so `on_failure` decided.",
        "Report it with the line shown. Until it is fixed, `on_failure` in the settings decides.",
    ),
    "disobeyed": Code(
        OWN,
        ERROR,
        "The agent ran a call that anyhook had told it not to run.",
        "Find out why with `anyhook doctor --live`. Until then, do not rely on guards in this agent.",
    ),
    "fired-twice": Code(
        OWN,
        WARNING,
        "The agent called several anyhook entries for one event. The hooks ran only for one of them.",
        "Remove all entries but one with `anyhook uninstall`.",
    ),
    "effect-degraded": Code(
        ANSWER,
        WARNING,
        "The agent cannot do what a hook asked for, so it was asked for the closest thing it can do.",
        "Look up what the agent supports, and change the hook to ask for that.",
    ),
    "effect-lost": Code(
        ANSWER,
        WARNING,
        "The agent supports nothing like what a hook asked for on this event.",
        "Look up what the agent supports, and change the hook to ask for that.",
    ),
    "context-cut": Code(
        ANSWER,
        WARNING,
        "Hooks gave the model more context than this agent takes at once. The rest is left out, and a line at the"
        " end says so.",
        "Let the hooks print less. The whole text is in the file that the line names.",
    ),
    "journal-failed": Code(
        OWN,
        WARNING,
        "anyhook cannot write to the journal, so events are not recorded.",
        "Make the state directory writable, and make sure its disk is not full.",
    ),
    "matcher-elsewhere": Code(
        ENTRY, WARNING, "A matcher names tools that only other agents have.", "Use this agent's name for the tool."
    ),
    "matcher-misspelt": Code(
        ENTRY, WARNING, "A matcher names a tool that no known agent has, and that is nearly the name of one.",
        "Correct the name. If it is your own tool, or one of an MCP server, leave it."),
    "merge-conflict": Code(COMMAND, ERROR, "A merge left its markers in a hook's script.", "Resolve the conflict."),
    "downloaded-code": Code(
        COMMAND, WARNING, "A hook runs code as it is downloaded or decoded, so it cannot be approved.",
        "Keep the code in a file that you have read."),
    "hidden-program": Code(
        COMMAND, WARNING, "A hook starts a program with a hidden name, or in a shared folder, when a session starts.",
        "Look at that file."),
    "agent-mod": Code(
        PLACE, WARNING,
        "Code that runs inside an agent acts before or after our entry, and can allow what a hook refused.",
        "Remove the plugin, or have the entry put into the agent's managed settings: those hooks come first."),
    "unread-file": Code(
        PLACE, WARNING, "A hook file of an agent whose hook files anyhook does not read.",
        "Nothing to do, unless you expected its hooks to run: then declare them in a dialect of `anyhook dialects`."),
}
# fmt: on

CORRECTED = ("wrong-type", "wrong-value", "wrong-limit")
"""Codes of values that anyhook replaces with a warning when hooks run. `check` calls them errors."""
