"""Interpret: how a run ended and what it printed → effects, or one failure with its cause. It reads values only, so a
recorded run can be read again without starting anything."""

from __future__ import annotations

from anyhook.model.hook import ASKING, Hook
from anyhook.model.outcome import BLOCK, SILENT, Failure, Outcome
from anyhook.model.problem import WARNING, Problem
from anyhook.model.words import VERDICTS, never
from anyhook.tables.cells import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.call import Run
    from anyhook.model.json_types import Json
    from anyhook.tables.cell_names import ExitMeaning, KeyKind, ReasonSource
    from anyhook.tables.rows import Draft, Key, Reply

ENDINGS = {
    "timed_out": "it did not end within its limit of {limit:g} s and was killed",
    "signalled": "signal {signal} ended it",
    "overflowed": "it printed more than 10 MB and was ended",
    "cancelled": "it was cancelled",
}

SHELL_NOT_FOUND = 127
"""A shell's exit status for a program that is not there."""
UNREAD_STATUS = "it exited with status {}, which its dialect does not read"
MAY_BE_JSON = (b"[", b'"', b"f")
"""The first characters of JSON that is not an object but may be meant as a refusal: a list, a text, `false`."""


def interpret(hook: Hook, reply: Reply, event: str, run: Run) -> Outcome:
    """What one run asks for."""
    unended = _unended(hook, reply, event, run)
    if unended is not None:
        return Outcome(failure=unended)
    assert run.exit_code is not None  # noqa: S101 (it has ended by itself)
    code = run.exit_code
    reply = reply.on_event.get(event, reply)
    if reply.streams is not None:
        run = reply.streams(run)
    meaning = reply.exits.get(code, reply.otherwise)
    is_unread = meaning == "pass" and code not in reply.exits
    if not run.stdout and meaning == "pass" and hook.handler not in ASKING:  # a model that says nothing has not agreed
        outcome = SILENT
    else:
        outcome = _read(hook, reply, event, run, code, meaning)
    if not outcome.doubt and (is_unread or not run.stdout.isascii()):
        outcome = outcome.replace(doubt=UNREAD_STATUS.format(code) if is_unread else _not_text(run.stdout))
    if b"{" in run.stdout or run.stdout.lstrip()[:1] in MAY_BE_JSON:
        from anyhook.engine.near_miss import look_closer

        outcome = look_closer(hook, reply, event, run, outcome, spoke=meaning == "pass" or _speaks(reply, run))
    return outcome


def _unended(hook: Hook, reply: Reply, event: str, run: Run) -> Failure | None:
    """The failure of a run that was not started, did not end by itself, or whose end is lost."""
    if run.ending == "not_started":
        # A shell that could not start the program exits with a status that the dialect may take for a refusal.
        missing = reply.on_event.get(event, reply)
        refuses = run.exit_code is not None and missing.exits.get(SHELL_NOT_FOUND, missing.otherwise) != "fail"
        return Failure("not_started", run.error or "it could not be started", refuses)
    if run.ending != "exited":
        detail = ENDINGS[run.ending].format(limit=hook.limit_s, signal=-(run.exit_code or 0))
        return Failure(run.ending, detail)
    if run.exit_code is None:  # another process reaped it: a refusal may be lost, so the call does not pass
        return Failure("exit", run.error or "its exit status was lost")
    return None


def _not_text(stdout: bytes) -> str:
    """Why the output cannot be read as text, or ""."""
    try:
        stdout.decode()
    except UnicodeDecodeError:
        return "its output is not UTF-8"
    return ""


def _read(hook: Hook, reply: Reply, event: str, run: Run, code: int, meaning: ExitMeaning) -> Outcome:
    """What a run that ended by itself asks for, by the dialect's own rules."""
    if meaning == "block_if_said":
        said = _RunReading(hook, reply, event, run).reason(reply.exit_reasons)
        meaning = "block" if said and not _speaks(reply, run) else "fail"
    if meaning == "fail" and not _speaks(reply, run):
        said = stderr_text(run)
        if hook.handler == "http":
            return Outcome(failure=Failure("exit", said))
        return Outcome(failure=Failure("exit", f"it exited with status {code}" + (f": {said}" if said else "")))
    reading = _RunReading(hook, reply, event, run)
    if meaning == "block":
        return reading.block_by_exit(code)
    outcome = reading.answer()
    failed = f"it exited with status {code}" if meaning == "fail" else ""
    return outcome.replace(doubt=reading.doubt or failed) if reading.doubt or failed else outcome


def _speaks(reply: Reply, run: Run) -> bool:
    """Whether its output counts in spite of its exit status."""
    return reply.speaks_anyway and reply.read(run.stdout)[0] == "object"


def stderr_text(run: Run) -> str:
    return run.stderr.decode("utf-8", "replace").strip()


class _RunReading:
    """Reads one run."""

    def __init__(self, hook: Hook, reply: Reply, event: str, run: Run) -> None:
        self.hook, self.reply, self.event, self.run = hook, reply, event, run
        self.draft: Draft = {}
        self.problems: list[Problem] = []
        self.mistyped: str = ""
        self.doubt: str = ""
        """Why the answer is not a clear yes in its dialect."""

    def problem(self, code: str, what: str, fix: str) -> None:
        self.problems.append(Problem(code, what, self.hook.where(), fix=fix, severity=WARNING))

    def block_by_exit(self, code: int) -> Outcome:
        if "reason" in self.reply.exit_reasons:
            kind, value = self.reply.read(self.run.stdout)
            if kind == "object" and isinstance(value, dict) and isinstance(value.get("reason"), str):
                self.draft["reason"] = value["reason"]
        silent = f"{self.hook.name} exited with status {code} and gave no reason"
        return Outcome(verdict=BLOCK, reason=self.reason(self.reply.exit_reasons) or silent)

    def reason(self, sources: tuple[ReasonSource, ...]) -> str:
        for source in sources:
            match source:
                case "stderr":
                    said = stderr_text(self.run)
                case "stdout":
                    said = self.run.stdout.decode("utf-8", "replace").strip()
                case "message":
                    said = (*self.texts("messages"), "")[0].strip()
                case "reason":
                    said = str(self.draft.get("reason") or "").strip()
                case _:
                    never(source)
            if said:
                return said
        return ""

    def texts(self, field: str) -> tuple[str, ...]:
        value = self.draft.get(field)
        return tuple([text for each in value if (text := str(each))]) if isinstance(value, list) else ()

    def answer(self) -> Outcome:
        kind, value = self.reply.read(self.run.stdout)
        if kind == "garbage":
            return Outcome(failure=Failure("output", f"its output cannot be used: {value}"))
        if kind == "blank":
            self.doubt = f"its output says nothing: {value}"
            self.problem("output-ignored", f"its output says nothing: {value}", "Print one JSON object, or nothing.")
        if kind == "text":
            return self.text_answer(str(value))
        if not isinstance(value, dict):
            return Outcome(problems=tuple(self.problems))
        wrong = self.reply.spoils(value, self.event) if self.reply.spoils else ""
        if wrong:
            return Outcome(failure=Failure("output", f"its output cannot be used: {wrong}"))
        self.read_keys(value)
        if self.mistyped and self.reply.mistyped and (wrong := self.reply.mistyped(self.draft, self.mistyped)):
            return Outcome(failure=Failure("output", wrong), problems=tuple(self.problems))
        if self.reply.finish:
            self.draft = self.reply.finish(self.draft, self.event)
        return self.outcome()

    def text_answer(self, text: str) -> Outcome:
        """What an answer asks for that is plain text."""
        heard = not self.reply.text_on or self.event in self.reply.text_on
        if text.startswith("{"):
            what = "its output starts like a JSON object but is not valid JSON; it is treated as text"
            self.problem("output-ignored", what, "Print valid JSON, or text that does not start like it.")
        if self.reply.text_doubted and not heard:
            self.doubt = f"its answer is text, which is not a clear yes: {text[:40]!r}"
        said = {self.reply.text_does: (text,)} if heard else {}
        return SILENT.replace(**said, problems=tuple(self.problems))

    def read_keys(self, answer: dict[str, Json]) -> None:
        for key in self.reply.keys:
            if key.path[0] not in answer:
                continue
            value = self.fetch(answer, key)
            if value is None and key.does != "block_unless":  # null is not consent
                continue
            wrong = _wrong_type(value, key.kind)
            if key.on and self.event not in key.on:  # whatever its type: this event's answer has no such key
                what = f"`{'.'.join(key.path)}` has no effect on {self.event}; it is ignored"
                self.problem("unsupported-effect", what, f"It counts on: {', '.join(key.on)}.")
                self.doubt = self.doubt or (what if wrong else "")
            elif wrong:
                self.wrong_type(key, wrong)
            else:
                self.apply(key, value)
        for name in self.reply.unknown(answer) if self.reply.unknown else ():
            known = sorted({key.path[0] for key in self.reply.keys})
            what = f"unknown key `{name}` in its output; it is ignored"
            self.problem("unknown-output-key", what, f"Keys: {', '.join(known)}.")

    def fetch(self, answer: dict[str, Json], key: Key) -> Json:
        value: Json = answer
        for depth, step in enumerate(key.path):
            if not isinstance(value, dict):
                self.wrong_type(key, f"`{'.'.join(key.path[:depth])}` must be an object")
                return None
            value = value.get(step)
            if value is None:
                return None
        return value

    def wrong_type(self, key: Key, wrong: str) -> None:
        what = f"`{'.'.join(key.path)}` in its output: {wrong}"
        self.doubt = self.doubt or what
        self.mistyped = self.mistyped or what
        if not any(problem.what.startswith(what) for problem in self.problems):
            self.problem("wrong-output-type", f"{what}; it is ignored", "Use the documented type.")

    def apply(self, key: Key, value: Json) -> None:
        match key.does:
            case "block" | "block_unless":
                if bool(value) is (key.does == "block"):
                    self.draft["verdict"] = BLOCK
            case "end_turn_unless":
                if not value:
                    self.draft["end_turn"] = True
            case "verdict":
                self.take_word(key, str(value))
            case "messages" | "context":
                self.draft[key.does] = [*self.texts(key.does), str(value)]
            case "output_text":
                self.draft["tool_output"] = text_of(value)
            case "note":
                words = [row[0] for row in key.words]
                if value and words and value not in words:
                    self.unknown_word(key, str(value), words)
                self.draft[key.path[-1]] = value
            case "reason" | "prompt" | "tool_input" | "tool_output" | "follow_ups" | "history" | "recipe" | "end_turn":
                self.draft[key.does] = value
            case _:
                never(key.does)

    def take_word(self, key: Key, word: str) -> None:
        known = [row for row in key.words if row[0] == (word.lower() if key.any_case else word)]
        if not known:
            self.unknown_word(key, word, [row[0] for row in key.words])
            return
        for _, verdict, events in known:
            if not events or self.event in events:
                self.draft["verdict"] = verdict
                return
        if known[0][1] != "allow":
            self.doubt = self.doubt or f"`{key.path[-1]}` {word!r} has no effect on {self.event}"
            self.problem(
                "unsupported-effect", f"`{key.path[-1]}` {word!r} has no effect on {self.event}", "Use another word."
            )

    def unknown_word(self, key: Key, word: str, words: list[str]) -> None:
        what = f"`{key.path[-1]}` {word!r} is not known; it is ignored"
        self.doubt = self.doubt or f"`{key.path[-1]}` {word!r} in its output is not known"
        self.problem("unknown-decision", what, f"Words: {', '.join(dict.fromkeys(words))}.")

    def outcome(self) -> Outcome:
        draft = self.draft
        verdict = VERDICTS[str(draft.get("verdict", "none"))]
        reason = self.reason(self.reply.json_reasons) if verdict != "none" else ""
        if verdict in (BLOCK, "ask") and not reason:
            reason = f"{self.hook.name} gave no reason"
        history, recipe, tool_input = draft.get("history"), draft.get("recipe"), draft.get("tool_input")
        return Outcome(
            verdict=verdict,
            reason=reason or None,
            tool_input=tool_input if isinstance(tool_input, dict) else None,
            tool_output=draft.get("tool_output"),
            prompt=str(draft["prompt"]) if "prompt" in draft else None,
            context=self.texts("context"),
            messages=self.texts("messages"),
            follow_ups=self.texts("follow_ups"),
            history=history if isinstance(history, list) else None,  # type: ignore[arg-type]
            recipe=recipe if isinstance(recipe, dict) else None,
            end_turn=bool(draft.get("end_turn")),
            problems=tuple(self.problems),
            spoke=True,
        )


ANSWER_DEPTH = 64


def _too_deep(value: Json) -> bool:
    """Whether it is nested deeper than any real value; such a value could break whatever reads it next."""
    level: list[Json] = [value]
    for _ in range(ANSWER_DEPTH):
        level = [
            item
            for each in level
            if isinstance(each, (dict, list))
            for item in (each.values() if isinstance(each, dict) else each)
            if isinstance(item, (dict, list))
        ]
        if not level:
            return False
    return True


def _wrong_type(value: Json, kind: KeyKind) -> str:
    """What the type should have been; "" if it is right."""
    if isinstance(value, (dict, list)) and _too_deep(value):
        return f"it is nested more than {ANSWER_DEPTH} levels deep"
    match kind:
        case "any":
            return ""
        case "string":
            right, wanted = isinstance(value, str), "text"
        case "bool":
            right, wanted = isinstance(value, bool), "true or false"
        case "object":
            right, wanted = isinstance(value, dict), "an object"
        case "strings":
            right, wanted = _all_texts(value), "a list of texts"
        case "texts by name":
            right = isinstance(value, dict) and _all_texts([*value.values()])
            wanted = "an object whose values are texts"
        case "messages":
            right = isinstance(value, list) and all(
                isinstance(item, dict) and _all_texts([item.get("role"), item.get("content")]) for item in value
            )
            wanted = "a list of {role, content}"
        case _:
            never(kind)
    return "" if right else f"it must be {wanted}"


def _all_texts(value: Json) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)
