"""Whatever is on the disk, building and checking a catalog never raises."""

from __future__ import annotations

import json
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from anyhook.engine.catalog import build
from anyhook.gates.check import UnknownFile, checkup
from anyhook.state.plans import Setup
from anyhook.tables.registry import DIALECTS, dialect
from examples import examples

if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.model.words import Trust

EVENTS = sorted({row.native for name in DIALECTS for row in dialect(name).events})
WORDS = [
    *EVENTS, "hooks", "matcher", "type", "command", "exec", "timeout", "timeout_ms", "callable", "prompt", "model",
    "schema_version", "name", "description", "trigger", "async", "priority", "tool", "pattern", "python", "agent",
    "kodeVersion", "metadata", "plugins", "on_failure", "dialect", "trusted_hook_projects", "projects", "items",
]  # fmt: skip
"""Keys that lead a reader deeper into a document than random ones would."""

scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.integers(-10, 10), st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=12), st.sampled_from(WORDS), st.sampled_from(["true", "./x", "", "*", "(", "a|b", "sh 'x", "~"]),
)  # fmt: skip
documents = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(st.sampled_from(WORDS), st.text(max_size=6)), inner, max_size=5),
    ),
    max_leaves=25,
)
handlers = st.fixed_dictionaries(
    {"type": st.sampled_from(["command", "python", "prompt", "agent", "x"])},
    optional=dict.fromkeys(("command", "callable", "prompt", "timeout", "model", "x"), documents),
)
grouped = st.fixed_dictionaries(
    {"schema_version": st.sampled_from([1, 1, 1, 2])},
    optional={
        "hooks": st.dictionaries(
            st.sampled_from(EVENTS),
            st.lists(st.fixed_dictionaries({"hooks": st.lists(handlers, max_size=3)}, optional={"matcher": documents})),
            max_size=3,
        )
    },
)
flat = st.fixed_dictionaries(
    {
        "hooks": st.dictionaries(
            st.sampled_from(EVENTS),
            st.lists(st.fixed_dictionaries({"exec": documents}, optional={"timeout_ms": documents}), max_size=3),
            max_size=3,
        )
    }
)
fields = st.fixed_dictionaries(
    {"name": documents, "trigger": st.sampled_from(EVENTS)},
    optional=dict.fromkeys(("description", "matcher", "timeout", "async", "priority", "x"), documents),
)


def as_json(value: object) -> bytes:
    return json.dumps(value).encode()


def as_front_matter(value: dict[str, Json]) -> bytes:
    lines = "\n".join(f"{json.dumps(key)}: {json.dumps(item)}" for key, item in value.items())
    return f"---\n{lines}\n---\n".encode()


def contents(likely: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    """Mostly documents with known keys, sometimes anything."""
    anything = st.one_of(documents.map(as_json), st.binary(max_size=200), st.text(max_size=200).map(_encoded))
    return st.one_of(likely, likely, anything)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


PLACES = {
    "project/.kode/config.yaml": contents(flat.map(as_json)),
    "home/.config/kode/config.yaml": contents(flat.map(as_json)),
    "project/.kodik/hooks/hooks.json": contents(grouped.map(as_json)),
    "project/.kodik/hooks/hooks.toml": contents(st.just(b'[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\n')),
    "project/.agents/hooks/it/HOOK.md": contents(fields.map(as_front_matter)),
    "home/.config/agents/hooks/it/HOOK.md": contents(fields.map(as_front_matter)),
    "project/.kolega/hooks.json": contents(grouped.map(as_json)),
    "home/.local/state/kolega-code/settings.json": contents(documents.map(as_json)),
    "project/.kodelet/hooks/it": st.binary(max_size=50),
    "home/.config/anyhook/config.toml": contents(st.just(b'on_failure = "deny"\n[dialect.x]\ny = 1\n')),
    "home/.local/state/anyhook/trust.json": contents(documents.map(lambda value: as_json({"projects": value}))),
    "home/.local/state/anyhook/switches.json": contents(documents.map(as_json)),
    "project/.agents/hooks/it/scripts/run": st.binary(max_size=50),
    "plugin/.kodik-plugin/plugin.json": contents(documents.map(as_json)),
    "plugin/hooks/hooks.json": contents(grouped.map(as_json)),
}
trees = st.lists(st.sampled_from(sorted(PLACES)), max_size=4, unique=True).flatmap(
    lambda names: st.fixed_dictionaries({name: PLACES[name] for name in names})
)
CALLABLE: Json = {"schema_version": 1, "hooks": {"Stop": [{"hooks": [{"type": "python", "callable": "a.b:c"}]}]}}


@settings(examples(150), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(trees, st.sampled_from(["ask", "all", "native", "none"]))
@example({"project/.kolega/hooks.json": as_json(CALLABLE)}, "ask")
def test_any_tree_can_be_read_and_checked(tree: dict[str, bytes], trust: Trust) -> None:
    root = Path(tempfile.mkdtemp())
    try:
        for name, data in tree.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            path.chmod(0o755)
        (root / "project").mkdir(exist_ok=True)
        env = {"HOME": str(root / "home"), "PATH": "/usr/bin:/bin"}
        setup = Setup.of(str(root / "project"), env, trust=trust, plugin_dirs=[str(root / "plugin")])
        catalog = build(setup, may_start=False).with_lines()
        assert len({hook.id for hook in catalog.hooks}) == len(catalog.hooks), "ids name one hook each"
        for problem in (*catalog.problems, *checkup(setup).problems):
            assert all(problem.as_dict().values()), problem
        for name in tree:
            with suppress(UnknownFile):
                checkup(setup, [str(root / name)])
    finally:
        shutil.rmtree(root)
