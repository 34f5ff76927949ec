"""Express: settled effects → what the host reads: stdout, stderr and exit status. Without effects, no output and status
0. It uses only what the host's table has."""

from __future__ import annotations

from anyhook.model import lean_json
from anyhook.model.firing import Answer
from anyhook.tables.host_rows import EFFECTS, Say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.model.json_types import Json
    from anyhook.model.words import HostEffect

VALUES = {"block": "reason", "end_turn": "reason", "ask": "reason", "allow": "reason"}
"""The name of an effect's value in templates, if it is not the effect's own name."""


def express(effects: Mapping[HostEffect, Json], says: Mapping[HostEffect, Say]) -> Answer:
    """The answer that expresses all effects."""
    made: dict[str, Json] = {}
    texts: list[str] = []
    talk: list[str] = []
    status = 0
    for effect in EFFECTS:
        if effect not in effects:
            continue
        say, word, value = says[effect], VALUES.get(effect, effect), effects[effect]
        _put(made, say.json, f"{{{word}}}", value)
        if say.text:
            texts.append(say.text.replace(f"{{{word}}}", str(value)))
        if say.stderr:
            talk.append(say.stderr.replace(f"{{{word}}}", str(value)))
        status = status or say.status
    stdout = lean_json.dumps(made, ensure_ascii=False) if made else "\n\n".join(texts)
    return Answer(stdout, "\n".join(talk), status)


def _put(made: dict[str, Json], template: Mapping[str, Json], mark: str, value: Json) -> None:
    """Merge a template into the answer so far."""
    for key, given in template.items():
        if isinstance(given, dict):
            inner = made.setdefault(key, {})
            if isinstance(inner, dict):
                _put(inner, given, mark, value)
        elif isinstance(given, list):
            made[key] = _listed(given, mark, value)
        else:
            made[key] = value if given == mark else given


def _listed(template: list[Json], mark: str, value: Json) -> list[Json]:
    """The same for a list of objects."""
    found: list[Json] = []
    for given in template:
        inner: dict[str, Json] = {}
        if isinstance(given, dict):
            _put(inner, given, mark, value)
        found.append(inner if isinstance(given, dict) else value if given == mark else given)
    return found


def completed(answer: Answer, silence: Mapping[str, Json]) -> Answer:
    """The answer to a host that misreads empty output, completed with what every answer must have. A refusal by exit
    status is already complete."""
    if answer.status:
        return answer
    said = lean_json.loads(answer.stdout) if answer.stdout.startswith("{") else {}
    given = said if isinstance(said, dict) else {}
    return answer.replace(stdout=lean_json.dumps({**silence, **given}, ensure_ascii=False))
