"""Problem codes of what happens while hooks run, of their answers, and of our own files and options."""

from __future__ import annotations

from anyhook.model.code import ANSWER, ENTRY, OWN, RUN, Code
from anyhook.model.problem import ERROR, WARNING

RUN_CODES = {
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
        ANSWER,
        WARNING,
        "Two hooks want different values for one field.",
        "Let one hook rewrite it, or let the second build on what the first made of it.",
    ),
    "unseen-form": Code(
        ANSWER,
        WARNING,
        "A hook of its own dialect rewrote the call after the gate had answered, or the gate failed on the final form.",
        "Let one hook do both, or declare the gate for another agent too: gates of other dialects are asked again.",
    ),
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
    "unknown-field": Code(
        OWN, WARNING, "No dialect has a payload field with this name.", "Correct its spelling, or leave it out."
    ),
    "switches-damaged": Code(
        OWN,
        ERROR,
        "anyhook cannot read the list of disabled hooks, so those hooks run again.",
        "Remove the file, and disable the hooks again.",
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
        ENTRY,
        WARNING,
        "A setting in this file turns hooks off.",
        "Remove the setting if you want the hooks to run.",
    ),
    "unsupported-event": Code(
        ENTRY,
        WARNING,
        "Only the product itself knows when to run these hooks, so anyhook does not run them.",
        "Nothing to do, unless you expected them to run.",
    ),
    "bridge-failed": Code(
        OWN,
        ERROR,
        "anyhook could not judge an agent's event, so `on_failure` decided.",
        "Report it with the line shown. Until it is fixed, `on_failure` in the settings decides.",
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
    "journal-failed": Code(
        OWN,
        WARNING,
        "anyhook cannot write to the journal, so events are not recorded.",
        "Make the state directory writable, and make sure its disk is not full.",
    ),
}
