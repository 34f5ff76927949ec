"""Generates docs/errors.md, the page of all problem codes, from the table of codes and the dialects' own error ids.
`python -m anyhook.tables.error_page` prints it."""

from __future__ import annotations

from anyhook.model.codes import CODES, GROUPS
from anyhook.tables.cell_names import CAUSES
from anyhook.tables.registry import DIALECTS, dialect

HEAD = """# Problems and their codes

When anyhook ignores, breaks or loses something, it reports a problem: a stable code, what happened, where, why, and
what to do. `anyhook check` finds the first four groups without running anything. The others occur while hooks run. The
severity is the one that `check` shows. This page is generated from the table of codes.
"""


def own_ids() -> dict[str, tuple[str, list[str]]]:
    """Every dialect's own error ids, each with the dialect's title and its causes."""
    found: dict[str, tuple[str, list[str]]] = {}
    for name in DIALECTS:
        table = dialect(name)
        for cause, code in table.failing.codes.items():
            found.setdefault(code, (table.title, []))[1].append(CAUSES[cause])
    return found


def page() -> str:
    """The page, in Markdown."""
    parts = [HEAD]
    for group, title in GROUPS.items():
        parts.append(f"## {title}\n")
        for name, code in CODES.items():
            if code.group == group:
                parts.append(f"### `{name}` ({code.severity})\n\n{code.meaning}\n\n**What to do:** {code.fix}\n")
    parts.append("## Error ids of single dialects\n")
    for name, (title, causes) in sorted(own_ids().items()):
        parts.append(f"### `{name}` ({title})\n\nIts documentation uses this id when {', or '.join(causes)}.\n")
    return "\n".join(parts)


def main() -> None:
    import sys

    sys.stdout.write(page())


if __name__ == "__main__":
    main()
