"""Codes: every problem code of our own with its usual severity, its meaning and its cure. A table; it finds no problem
itself, and a dialect's own error ids stand in that dialect's table."""

from __future__ import annotations

from anyhook.model.problem import ERROR, WARNING
from anyhook.model.record import Record


class Code(Record):
    """What one code stands for."""

    group: str
    """The chapter of the error page."""
    severity: str
    """As `check` shows it. While hooks run, a value that could be mended is a warning everywhere."""
    meaning: str
    """Why this is a problem, in one sentence."""
    cure: str


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

CODES = {
    # -- files
    "unreadable": Code(
        FILE,
        ERROR,
        "What lies at this path cannot be read as a file, so none of its hooks is known.",
        "Put a regular, readable file of reasonable size in its place.",
    ),
    "project-too-large": Code(
        FILE,
        ERROR,
        "An agent waits while hook files are read, so there is a bound for all of a project's together (20 MB,"
        " 30,000 hooks, 40,000 names in folders, 512 MB of scripts and programs, among others). Beyond it none of the"
        " project's hooks is known, in any dialect; your own hooks answer as usual.",
        "Take out of the folder that is named what is no hook file, or make it smaller.",
    ),
    "dangling-link": Code(
        FILE,
        ERROR,
        "A symbolic link stands where a hook file should be, and leads nowhere.",
        "Restore what the link names, or remove the link.",
    ),
    "layer-failed": Code(
        FILE,
        ERROR,
        "Reading these hooks failed in a way that nobody thought of, so none of them is used; all others are.",
        "Remove what is unusual in the file, and report the line that is shown.",
    ),
    "not-utf8": Code(
        FILE, ERROR, "Hook files are read as UTF-8, and these bytes are something else.", "Save the file as UTF-8."
    ),
    "invalid-json": Code(
        FILE,
        ERROR,
        "The file is no valid JSON, so none of its hooks is known.",
        "Mend the line that is named; JSON has no comments and no trailing commas.",
    ),
    "invalid-yaml": Code(
        FILE,
        ERROR,
        "The file is no plain YAML 1.2 (or uses tags, repeated keys, too many aliases), so none of its hooks is known.",
        "Mend the line that is named.",
    ),
    "invalid-toml": Code(
        FILE, ERROR, "The file is no valid TOML, so none of its hooks is known.", "Mend the line that is named."
    ),
    "no-front-matter": Code(
        FILE,
        ERROR,
        "The fields of the hook stand between two lines `---` at the top of the file, and there are none.",
        "Begin the file with a line `---`, the fields, and a line `---`.",
    ),
    "broken-agent": Code(
        OWN,
        ERROR,
        "The tables of an agent cannot be loaded, so none of its hooks is known. Every other agent works.",
        "Correct the table that the message names, or remove the package that brings it.",
    ),
    "schema-version": Code(
        FILE,
        ERROR,
        "The dialect rejects a file without the one version it knows, as a whole.",
        'Write "schema_version": 1 at the top level.',
    ),
    "yaml-backslash": Code(
        FILE,
        WARNING,
        "Between double quotes a backslash starts an escape: `\\b` is a backspace; what is none is read as written.",
        "Put patterns between single quotes.",
    ),
    # -- entries
    "wrong-type": Code(
        ENTRY, ERROR, "A value of another type is documented here.", "Write the type that the fix names."
    ),
    "wrong-value": Code(
        ENTRY, ERROR, "The value is outside what the dialect documents.", "Write a value inside the documented range."
    ),
    "wrong-limit": Code(
        ENTRY,
        ERROR,
        "The time limit is no duration, or outside the documented range; another limit applies.",
        "Give a number in the documented range and unit.",
    ),
    "wrong-unit": Code(
        ENTRY,
        WARNING,
        "The time limit is so small or so large that another unit was most likely meant.",
        "Give the limit in the unit that the dialect uses: milliseconds or seconds.",
    ),
    "repeated-key": Code(
        ENTRY,
        ERROR,
        "The file has a key twice, and only what stands under the last one counts.",
        "Put everything under one of them.",
    ),
    "missing-key": Code(ENTRY, ERROR, "A key is missing that the dialect documents as required.", "Add the key."),
    "unknown-key": Code(
        ENTRY, WARNING, "The dialect documents no such key, so it does nothing.", "Correct its spelling, or remove it."
    ),
    "more-problems": Code(
        ENTRY,
        ERROR,
        "The file has more problems than are told one by one.",
        "Mend those that are told, and check again.",
    ),
    "unknown-event": Code(
        ENTRY, ERROR, "The dialect has no such event, so these hooks never run.", "Use one of the dialect's events."
    ),
    "unknown-handler": Code(
        ENTRY, ERROR, "The dialect has no handler of this type.", "Use one of the types that the fix names."
    ),
    "handler-not-allowed": Code(
        ENTRY,
        ERROR,
        "This type of handler may not stand under this event.",
        "Move it to another event, or use another type.",
    ),
    "invalid-matcher": Code(
        ENTRY, ERROR, "The matcher is no valid pattern, so the hook cannot run.", "Correct the pattern."
    ),
    "matcher-never-matches": Code(
        ENTRY,
        WARNING,
        "No value that this event gives can match, so the hook never runs.",
        "Correct the matcher, or remove it.",
    ),
    "matcher-ignored": Code(
        ENTRY,
        WARNING,
        "This event gives matchers nothing to try, so the hook runs every time.",
        "Remove the matcher, and look at the payload inside the hook.",
    ),
    "async-gate": Code(
        ENTRY,
        WARNING,
        "Nobody waits for a background hook, so it cannot block what this event lets it block.",
        "Let it run in the foreground, or move it to an event that only observes.",
    ),
    "duplicate-hook": Code(
        ENTRY, WARNING, "Two declarations are the same in every key, so the hook runs twice.", "Remove one of them."
    ),
    # -- commands
    "program-missing": Code(
        COMMAND,
        ERROR,
        "The program or script that the hook names is not there.",
        "Correct the path, or install the program.",
    ),
    "not-executable": Code(
        COMMAND,
        ERROR,
        "The file is there but has no execute permission, so it cannot be started.",
        "Give it the execute bit: chmod +x FILE.",
    ),
    "bad-first-line": Code(
        COMMAND,
        ERROR,
        "The first line of a script names the program that runs it, and this one names none that is there.",
        "Begin the script with a line such as #!/bin/sh, with Unix line ends.",
    ),
    "no-entry-point": Code(
        COMMAND,
        ERROR,
        "The hook's folder has none of the scripts that the dialect looks for.",
        "Add one of the scripts that the fix names.",
    ),
    "no-shell": Code(
        COMMAND,
        WARNING,
        "The command is started without a shell, so pipes, variables and wildcards are passed on as plain words.",
        "Call a shell (sh -c '…'), or put the line into a script.",
    ),
    "module-missing": Code(
        COMMAND,
        ERROR,
        "The module or function that the hook names was not found.",
        "Correct the name, or make the module importable.",
    ),
    "no-event": Code(
        COMMAND,
        ERROR,
        "The executable was asked for its event and gave no usable answer.",
        "Let it print one of the dialect's events and leave with status 0.",
    ),
    # -- places
    "misplaced-file": Code(
        PLACE,
        WARNING,
        "This looks like a hook file, but the dialect does not look here, so it is ignored.",
        "Move it to the place that the fix names.",
    ),
    "two-hook-files": Code(
        PLACE, WARNING, "The dialect reads one of the two files and ignores the other.", "Keep one of them."
    ),
    "same-name": Code(
        PLACE, WARNING, "Hooks are known by name here, and another one has the same.", "Give each hook its own name."
    ),
    "overridden": Code(
        PLACE,
        WARNING,
        "Another scope declares the same, and by the dialect's rule only one of them runs.",
        "Rename one of them if both are meant to run.",
    ),
    # -- running
    "hook-timed-out": Code(
        RUN, ERROR, "The hook did not end within its time limit and was ended.", "Make it faster, or raise its limit."
    ),
    "hook-signalled": Code(
        RUN, ERROR, "The hook was ended by a signal.", "Run it by hand with the payload that `anyhook explain` shows."
    ),
    "hook-not-started": Code(
        RUN,
        ERROR,
        "The hook could not be started.",
        "Check the path, the execute bit and the first line of the script.",
    ),
    "hook-overflowed": Code(
        RUN, ERROR, "The hook printed more than 10 MB and was ended.", "Let it print its answer only."
    ),
    "hook-failed": Code(
        RUN,
        ERROR,
        "The hook left with a status that its dialect calls a failure.",
        "Run it by hand with the payload that `anyhook explain` shows.",
    ),
    "hook-output-invalid": Code(
        RUN,
        ERROR,
        "The hook printed what its dialect calls invalid.",
        "Print one JSON object on stdout, or nothing; talk belongs on stderr.",
    ),
    "hook-cancelled": Code(
        RUN, ERROR, "The hook was ended because nobody waited for it any longer.", "Nothing, if the host was closing."
    ),
    "nested-event": Code(
        RUN,
        WARNING,
        "The event was caused by a hook, and hooks do not trigger hooks.",
        "Nothing, unless it was not meant so.",
    ),
    "waiting-for-trust": Code(
        RUN,
        WARNING,
        "Hooks of a project run only after its user has approved them.",
        "Look at them and approve them: anyhook trust.",
    ),
    # -- answers
    "output-ignored": Code(
        ANSWER, WARNING, "The hook's output has no meaning in its dialect.", "Print one JSON object, or nothing."
    ),
    "unknown-output-key": Code(
        ANSWER, WARNING, "The dialect documents no such key in an answer.", "Correct its spelling, or remove it."
    ),
    "wrong-output-type": Code(
        ANSWER, WARNING, "A key of the answer has another type than documented.", "Print the documented type."
    ),
    "unknown-decision": Code(
        ANSWER, WARNING, "The answer decides with a word that the dialect does not know.", "Use a documented word."
    ),
    "unsupported-effect": Code(
        ANSWER,
        WARNING,
        "The answer asks for something that has no effect on this event.",
        "Ask for it on an event that the fix names.",
    ),
    "bound-reached": Code(
        ANSWER,
        WARNING,
        "The hook has kept the agent working as often in one turn as its dialect allows; this block is ignored.",
        "Let it accept what the agent can reach.",
    ),
    "cannot-block": Code(
        ANSWER, WARNING, "Nothing can be blocked on this event.", "Move the hook to an event that can be blocked."
    ),
    "action-lost": Code(
        ANSWER,
        WARNING,
        "Another hook's action came first, and the dialect carries out only one.",
        "Let one hook decide.",
    ),
    # -- our own
    "bad-setting": Code(
        OWN, WARNING, "Our config has a setting that is unknown or has no such value.", "Correct or remove it."
    ),
    "unknown-field": Code(
        OWN, WARNING, "No dialect's payload has such a field.", "Correct its spelling, or leave it out."
    ),
    "switches-damaged": Code(
        OWN,
        ERROR,
        "The file that remembers which hooks were turned off cannot be read, so they run again.",
        "Remove the file, and turn the hooks off again.",
    ),
    "cases-not-searched": Code(
        OWN,
        WARNING,
        "The project has too many folders for all of it to be searched for case files.",
        "Run `anyhook trust` in the folder that holds the case files.",
    ),
    "ledger-refused": Code(
        OWN,
        ERROR,
        "The record of approvals is damaged or not yours alone to write, so it is not believed.",
        "Remove it and approve again with `anyhook trust`.",
    ),
    "ledger-in-project": Code(
        OWN,
        ERROR,
        "A record of approvals inside the project could be written by the project.",
        "Set XDG_STATE_HOME to a folder outside the project.",
    ),
    "all-disabled": Code(
        ENTRY,
        WARNING,
        "A switch of this file turns hooks off.",
        "Remove the switch where the hooks are meant to run.",
    ),
    "unsupported-event": Code(
        ENTRY,
        WARNING,
        "Only the product itself knows when these hooks are meant to run, so they are not run here.",
        "Nothing, unless they were expected to run.",
    ),
    "bridge-failed": Code(
        OWN,
        ERROR,
        "An agent's event could not be judged, so the posture for broken hooks decided.",
        "Report it with the line that is shown; `on_failure` in the settings says what happens meanwhile.",
    ),
    "fired-twice": Code(
        OWN,
        WARNING,
        "An agent called several entries of anyhook for one event; the hooks were run for one of them.",
        "Take all but one of the entries out with `anyhook uninstall`.",
    ),
    "effect-degraded": Code(
        ANSWER,
        WARNING,
        "The agent cannot do what a hook asked for, and was told the nearest thing that it can do.",
        "See what each agent can do, and let the hook ask for that.",
    ),
    "effect-lost": Code(
        ANSWER,
        WARNING,
        "The agent has nothing like what a hook asked for at this event.",
        "See what each agent can do, and let the hook ask for that.",
    ),
    "journal-failed": Code(
        OWN,
        WARNING,
        "The journal cannot be written, so events are not recorded.",
        "Make the state directory writable, with room on its disk.",
    ),
}

MENDED = ("wrong-type", "wrong-value", "wrong-limit")
"""Codes of values that are mended when hooks run, with a warning, and that `check` calls errors."""
