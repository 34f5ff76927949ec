"""The table of anyhook's own problem codes: severity, meaning and fix of each. Here are those of hook files and
declarations; `run_codes` has the others. A dialect's own error ids are in that dialect's table."""

from __future__ import annotations

from anyhook.model.code import COMMAND, ENTRY, FILE, OWN, PLACE, Code
from anyhook.model.problem import ERROR, WARNING
from anyhook.model.run_codes import RUN_CODES

CODES = {
    "unreadable": Code(
        FILE,
        ERROR,
        "anyhook cannot read this path as a file, so it does not know its hooks.",
        "Replace it with a regular, readable file of reasonable size.",
    ),
    "project-too-large": Code(
        FILE,
        ERROR,
        "An agent waits while anyhook reads hook files, so the total for one project is limited (20 MB, 30,000 hooks,"
        " 40,000 names in folders and 512 MB of scripts and programs, among others). Above the limit, none of the"
        " project's hooks is used, in any dialect. Your own hooks still work.",
        "In the folder that is named, remove files that are not hook files, or make it smaller.",
    ),
    "dangling-link": Code(
        FILE,
        ERROR,
        "The hook file is a symbolic link, and its target does not exist.",
        "Restore the target, or remove the link.",
    ),
    "layer-failed": Code(
        FILE,
        ERROR,
        "Reading these hooks failed in an unexpected way, so none of them is used. All other hooks are.",
        "Remove anything unusual from the file, and report the line shown.",
    ),
    "merge-conflict": Code(FILE, ERROR, "A merge left its markers in a hook's script.", "Resolve the conflict."),
    "not-utf8": Code(FILE, ERROR, "Hook files must be UTF-8, and this one is not.", "Save the file as UTF-8."),
    "invalid-json": Code(
        FILE,
        ERROR,
        "The file is not valid JSON, so none of its hooks can be read.",
        "Fix the line that is named. JSON allows no comments and no trailing commas.",
    ),
    "invalid-yaml": Code(
        FILE,
        ERROR,
        "The file is not plain YAML 1.2 (or has tags, repeated keys, too many aliases), so its hooks cannot be read.",
        "Fix the line that is named.",
    ),
    "invalid-toml": Code(
        FILE, ERROR, "The file is not valid TOML, so none of its hooks can be read.", "Fix the line that is named."
    ),
    "no-front-matter": Code(
        FILE,
        ERROR,
        "The hook's fields belong between two `---` lines at the top of the file. This file has none.",
        "Start the file with a `---` line, the fields, and another `---` line.",
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
        "The dialect rejects the whole file unless it has the one version it knows.",
        'Write "schema_version": 1 at the top level.',
    ),
    "yaml-backslash": Code(
        FILE,
        WARNING,
        "Inside double quotes a backslash starts an escape (`\\b` is a backspace). Unknown escapes stay as they are.",
        "Put patterns in single quotes.",
    ),
    "wrong-type": Code(ENTRY, ERROR, "The dialect documents another type for this value.", "Use the documented type."),
    "wrong-value": Code(ENTRY, ERROR, "The dialect does not document this value.", "Use a documented value."),
    "wrong-limit": Code(
        ENTRY,
        ERROR,
        "The time limit is not a duration or is out of the documented range. Another limit applies.",
        "Give a number in the documented range and unit.",
    ),
    "wrong-unit": Code(
        ENTRY,
        WARNING,
        "The time limit is so small or so large that you probably meant another unit.",
        "Give the limit in the unit that the dialect uses: milliseconds or seconds.",
    ),
    "repeated-key": Code(
        ENTRY,
        ERROR,
        "The file has the same key twice, and only the last one counts.",
        "Put everything under one of them.",
    ),
    "missing-key": Code(ENTRY, ERROR, "The dialect requires this key.", "Add the key."),
    "unknown-key": Code(
        ENTRY, WARNING, "The dialect has no such key, so it does nothing.", "Correct its spelling, or remove it."
    ),
    "more-problems": Code(
        ENTRY,
        ERROR,
        "The file has more problems than anyhook lists.",
        "Fix the ones that are listed, then check again.",
    ),
    "unknown-event": Code(
        ENTRY, ERROR, "The dialect has no such event, so these hooks never run.", "Use one of the dialect's events."
    ),
    "unknown-handler": Code(
        ENTRY, ERROR, "The dialect has no handler of this type.", "Use a type that the dialect documents."
    ),
    "handler-not-allowed": Code(
        ENTRY,
        ERROR,
        "The dialect does not allow this type of handler for this event.",
        "Move it to another event, or use another type.",
    ),
    "invalid-matcher": Code(
        ENTRY, ERROR, "The matcher is not a valid pattern, so the hook cannot run.", "Correct the pattern."
    ),
    "matcher-never-matches": Code(
        ENTRY,
        WARNING,
        "This event has no value that can match, so the hook never runs.",
        "Correct the matcher, or remove it.",
    ),
    "matcher-ignored": Code(
        ENTRY,
        WARNING,
        "This event has nothing to match, so the hook runs every time.",
        "Remove the matcher, and check the payload inside the hook.",
    ),
    "async-gate": Code(
        ENTRY,
        WARNING,
        "Nothing waits for a background hook, so it cannot block, although this event can be blocked.",
        "Run it in the foreground, or move it to an event that only observes.",
    ),
    "duplicate-hook": Code(
        ENTRY, WARNING, "Two declarations are identical, so the hook runs twice.", "Remove one of them."
    ),
    "program-missing": Code(
        COMMAND,
        ERROR,
        "The program or script that the hook names does not exist.",
        "Correct the path, or install the program.",
    ),
    "not-executable": Code(
        COMMAND,
        ERROR,
        "The file exists but is not executable, so it cannot be started.",
        "Make it executable: chmod +x FILE.",
    ),
    "bad-first-line": Code(
        COMMAND,
        ERROR,
        "The first line of a script names the program that runs it. The program named here does not exist.",
        "Start the script with a line such as #!/bin/sh, with Unix line endings.",
    ),
    "no-entry-point": Code(
        COMMAND,
        ERROR,
        "The hook's folder has none of the scripts that the dialect looks for.",
        "Add one of the documented scripts.",
    ),
    "no-shell": Code(
        COMMAND,
        WARNING,
        "The command runs without a shell, so pipes, variables and wildcards are passed on as plain text.",
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
        "anyhook asked the executable for its event and got no usable answer.",
        "Make it print one of the dialect's events and exit with status 0.",
    ),
    "misplaced-file": Code(
        PLACE,
        WARNING,
        "This looks like a hook file, but the dialect does not read it here, so it is ignored.",
        "Move it to a path that the dialect reads.",
    ),
    "two-hook-files": Code(
        PLACE, WARNING, "The dialect reads one of the two files and ignores the other.", "Keep one of them."
    ),
    "same-name": Code(
        PLACE,
        WARNING,
        "The dialect identifies hooks by name, and another hook has the same name.",
        "Give each hook its own name.",
    ),
    "overridden": Code(
        PLACE,
        WARNING,
        "Another scope declares the same hook, and the dialect runs only one of them.",
        "Rename one of them if you want both to run.",
    ),
    **RUN_CODES,
}

CORRECTED = ("wrong-type", "wrong-value", "wrong-limit")
"""Codes of values that anyhook replaces with a warning when hooks run. `check` calls them errors."""
