"""Variables that change what a hook's programs load or run when they start. Hooks get an agent's environment as it is,
so a project's `.env` or the agent's settings can open a guard with them: the person is told. Those that were set when
the person ran `install` are expected, unless they lead into the project, where the agent can write."""

from __future__ import annotations

import os

from anyhook.model import lean_json
from anyhook.platform.places import lies_in, read_object, write_private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.model.json_types import Json

REACHES = {
    "Python": """
        PYTHONPATH PYTHONHOME PYTHONINSPECT PYTHONSTARTUP PYTHONUSERBASE PYTHONPLATLIBDIR PYTHONEXECUTABLE
        PYTHONOPTIMIZE PYTHONSAFEPATH PYTHONPYCACHEPREFIX PYTHONWARNINGS PYTHONBREAKPOINT
    """,
    "shells": "BASH_ENV SHELLOPTS BASHOPTS ZDOTDIR CDPATH",
    "Node": "NODE_OPTIONS NODE_PATH BUN_OPTIONS npm_config_script_shell NPM_CONFIG_SCRIPT_SHELL",
    "Perl": "PERL5OPT PERL5LIB PERLLIB PERL5DB",
    "Ruby": "RUBYOPT RUBYLIB",
    "Java": "JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS",
    "PHP": "PHPRC PHP_INI_SCAN_DIR",
    "Lua": "LUA_INIT LUA_PATH LUA_CPATH",
    "awk": "AWKPATH AWKLIBPATH",
    "make": "MAKEFILES MAKEFLAGS GNUMAKEFLAGS",
    "every program": "LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH GCONV_PATH",
}
"""What is started → the variables."""
FUNCTIONS = "BASH_FUNC_"
"""With a name behind it, a function that takes the place of a program in bash."""
KINDS = {name: kind for kind, names in REACHES.items() for name in names.split()}
COMPILED, NOT_COMPILED = "PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE"
FILE = "start-variables.json"
SHOWN = 80


def keep_start_variables(env: Mapping[str, str], state: str) -> None:
    """The person's own environment, as it is now."""
    found: dict[str, Json] = {name: _digest(env[name]) for name in _set_in(env)}
    write_private(f"{state}/{FILE}", lean_json.dumps(found).encode())


def swaying(env: Mapping[str, str], project: str, state: str) -> tuple[str, ...]:
    """The variables of an agent's environment that a person is told about, each as it is shown."""
    names = _set_in(env)
    if not names:
        return ()
    known = read_object(f"{state}/{FILE}") or {}
    told = []
    for name in names:
        inside = _leads_into(env[name], project)
        if inside or known.get(name) != _digest(env[name]):
            value = env[name] if len(env[name]) <= SHOWN else f"{env[name][: SHOWN - 1]}…"
            where = ", inside the project" if inside else ""
            told.append(f"{name}={' '.join(value.split())} ({KINDS.get(name, 'shells')}{where})")
    return tuple(told)


def _set_in(env: Mapping[str, str]) -> list[str]:
    return sorted(name for name in env if (name in KINDS or name.startswith(FUNCTIONS)) and env[name])


def _leads_into(value: str, project: str) -> bool:
    """Whether a part of a value is a path in the project, where hooks run."""
    for piece in value.replace(":", " ").replace("=", " ").split():
        path = os.path.join(project, piece)
        if (piece.startswith("/") or os.path.exists(path)) and lies_in(path, project):
            return True
    return False


def _digest(value: str) -> str:
    from hashlib import sha256

    return sha256(os.fsencode(value)).hexdigest()
