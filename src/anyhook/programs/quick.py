"""What is asked about a text before the table of programs is loaded, because most texts end here. These names come from
the table's rows; a test compares them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SHELLS = frozenset({"ash", "bash", "dash", "ksh", "mksh", "rbash", "sh", "yash", "zsh"})
"""Shells whose `-c LINE` is in the language of POSIX shells."""
IMPORTABLE = (".py", ".pyc", ".so")
"""Endings of Python modules."""
HIDING = (
    "7z", "7za", "7zr", "7zz", "az", "bcp", "buildah", "codecov", "codecov-cli", "codecovcli", "cqlsh", "crane",
    "curl", "curlie", "docker", "doppler", "gh", "helm", "htpasswd", "http", "https", "ipmitool", "isql",
    "kubectl", "ldapadd", "ldapdelete", "ldapmodify", "ldappasswd", "ldapsearch", "ldapwhoami", "lftp",
    "mariadb", "mariadb-admin", "mariadb-dump", "mongo", "mongodump", "mongoexport", "mongoimport",
    "mongorestore", "mongosh", "mosquitto_pub", "mosquitto_sub", "mssql-cli", "mycli", "mysql", "mysqladmin",
    "mysqldump", "mysqlimport", "mysqlshow", "nerdctl", "netlify", "oc", "openssl", "oras", "osql", "podman",
    "rabbitmqctl", "rar", "redis-cli", "rpcclient", "skopeo", "smbclient", "smbget", "smbmap", "sqlcmd",
    "sshpass", "tsql", "twine", "unrar", "unzip", "valkey-cli", "vercel", "xh", "xhs", "zip", "zipcloak",
)  # fmt: skip
"""Programs that take a secret on their command line, in the next word after an option or in the same one."""
LOOKERS = frozenset({
    ":", "cat", "cd", "diff", "du", "echo", "egrep", "fgrep", "ghead", "gls", "grep", "head", "ls", "pwd", "stat",
    "tail", "test", "true", "type", "ugrep", "wc", "which", "zgrep",
})  # fmt: skip
"""Programs that change and run nothing, whatever their arguments are."""
REMOVERS = frozenset({
    "bfs", "chmod", "chown", "find", "gfind", "gmv", "grm", "mount", "mv", "rm", "rmdir", "rsync", "srm",
    "trash", "trash-put", "zf_rm",
})  # fmt: skip
"""Programs that can remove a whole folder, or hide what is in it."""
CODE_READERS = frozenset({
    ".", "R", "Rscript", "ash", "bash", "bb", "bmake", "bun", "clisp", "clj", "clojure", "cmd", "csh", "csi",
    "dash", "deno", "elixir", "elvish", "erl", "escript", "fish", "ghc", "gmake", "groovy", "guile", "ipython",
    "java", "jshell", "julia", "just", "ksh", "lua", "luajit", "make", "mksh", "node", "nodejs", "npm", "nu",
    "ocaml", "osascript", "perl", "perl6", "php", "pnpm", "powershell", "powershell.exe", "pwsh", "pwsh.exe",
    "pypy", "pypy3", "python", "python3", "racket", "raku", "rbash", "ruby", "runghc", "runhaskell", "sbcl",
    "scala", "sh", "source", "swipl", "tclsh", "tcsh", "ts-node", "ts-node-dev", "tsx", "xonsh", "yarn", "yash",
    "zsh",
})  # fmt: skip
"""Programs that run code from a file. A version may follow their names."""
CONTENTS = frozenset({
    "content", "contents", "new_string", "new_text", "newText", "file_text", "old_string", "old_text", "oldText",
    "new_source", "new_str", "old_str",
})  # fmt: skip
"""Keys of a tool's input whose texts go into a file, or are looked for in one: they name none. A test compares them
with the keys that do."""
_NAME_SIGNS = "-_.@"
_LONG_TEXT = 4_096
_NAME = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.@"
_NO_NAME = bytes(range(256)).translate(None, _NAME)
_NAMES_ONLY = bytes.maketrans(_NO_NAME, b" " * len(_NO_NAME))
"""Turns everything but names into blanks."""


def hiding(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of the names of such programs in a text, with a blank behind them."""
    words: Iterable[str] = HIDING
    if len(text) > _LONG_TEXT:  # looking for each name takes longer than looking for all words
        unsigned = f"\n{text}".replace("\n-", "\n")  # the sign of a diff
        found = {*unsigned.encode("ascii", "replace").translate(_NAMES_ONLY).split()}
        words = [name for name in HIDING if name.encode() in found]
    for name in words:
        place = text.find(name)
        while place >= 0:
            end = place + len(name)
            if text[end : end + 1] in (" ", "\t") and _may_begin(text, place):
                yield place, end
            place = text.find(name, end)


def _may_begin(text: str, place: int) -> bool:
    """Whether a name may begin here: behind no part of a name; the sign of a diff is none."""
    before = text[place - 1 : place]
    if before == "-":
        return place == 1 or text[place - 2] == "\n"
    return not before.isalnum() and (before not in _NAME_SIGNS or not before)
