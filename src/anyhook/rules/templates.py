"""Templates: `{path}` and others in what a rule runs, writes or says. In a command every value is quoted for the shell,
so that no file name becomes a command."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

KNOWN = ("path", "paths", "command", "tool", "project", "folder", "session", "prompt", "message", "event", "agent")


def placeholders(text: str) -> Iterator[tuple[int, str]]:
    """Where `{name}` is, and the name. Braces around anything but a lower-case word are plain text."""
    at = text.find("{")
    while at >= 0:
        end = text.find("}", at)
        name = text[at + 1 : end] if end > 0 else ""
        if name.isalpha() and name.islower() and text[at - 1 : at] != "$":
            yield at, name
        at = text.find("{", at + 1)


def wrong_template(text: str, *, quoted: bool) -> str:
    """What is wrong with a template, or "". `quoted`: its values are quoted for a shell."""
    for at, name in placeholders(text):
        if name not in KNOWN:
            from anyhook.tables.shapes import guess

            known = ", ".join(f"{{{each}}}" for each in KNOWN)
            return f"`{{{name}}}` is not known; there are {known}.{guess(name, KNOWN)}"
        if quoted and _inside_quotes(text, at):
            return f"`{{{name}}}` is inside quotes; it is quoted already, so write it without them"
    return ""


def _inside_quotes(text: str, at: int) -> bool:
    quote, place = "", 0
    while place < at:
        char = text[place]
        if char == "\\" and quote != "'":
            place += 1
        elif not quote and char in "'\"":
            quote = char
        elif char == quote:
            quote = ""
        place += 1
    return bool(quote)


def fill(text: str, values: Mapping[str, str]) -> str:
    """The text with its values, unquoted."""
    made, last = "", 0
    for at, name in placeholders(text):
        if name in values:
            made += text[last:at] + values[name]
            last = at + len(name) + 2
    return made + text[last:]


def quote(value: str) -> str:
    """One word for a shell."""
    return "'" + value.replace("'", "'\"'\"'") + "'"


def shell_line(text: str, values: Mapping[str, str], paths: tuple[str, ...]) -> str:
    """The command line, repeated for each path if it contains `{path}`; its status is the last one that is not 0."""
    quoted = {name: quote(value) for name, value in values.items()}
    quoted["paths"] = " ".join(quote(path) for path in paths)
    if not any(name == "path" for _, name in placeholders(text)):
        return fill(text, quoted)
    lines = [fill(text, {**quoted, "path": quote(path)}) for path in paths]
    if len(lines) == 1:
        return lines[0]
    return "\n".join([*(f"( {line}\n) || status=$?" for line in lines), "exit ${status:-0}"])
