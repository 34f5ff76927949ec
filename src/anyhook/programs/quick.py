"""What is asked about a text before the table of programs is loaded, because most texts end here. These names come from
the table's rows; a test compares them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

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
    "cat", "cd", "diff", "du", "echo", "egrep", "fgrep", "ghead", "gls", "grep", "head", "ls", "pwd", "stat",
    "tail", "test", "type", "ugrep", "wc", "which", "zgrep",
})  # fmt: skip
"""Programs that change and run nothing, whatever their arguments are."""
REMOVERS = frozenset({
    "bfs", "chmod", "chown", "find", "gfind", "gmv", "grm", "mount", "mv", "rm", "rmdir", "rsync", "srm",
    "trash", "trash-put",
})  # fmt: skip
"""Programs that can remove a whole folder, or hide what is in it."""
CODE_READERS = frozenset({
    ".", "R", "Rscript", "ash", "bash", "bmake", "bun", "csh", "dash", "deno", "elixir", "elvish", "fish",
    "gmake", "groovy", "guile", "julia", "just", "ksh", "lua", "luajit", "make", "mksh", "node", "nodejs",
    "npm", "nu", "osascript", "perl", "php", "pnpm", "powershell", "pwsh", "pypy", "pypy3", "python", "python3",
    "rbash", "ruby", "sh", "source", "tclsh", "tcsh", "ts-node", "ts-node-dev", "tsx", "xonsh", "yarn", "yash",
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


def hiding(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of the names of such programs in a text, with a blank behind them."""
    for name in HIDING:
        place = text.find(name)
        while place >= 0:
            end = place + len(name)
            if text[end : end + 1] in (" ", "\t") and (
                place == 0 or not (text[place - 1].isalnum() or text[place - 1] in _NAME_SIGNS)
            ):
                yield place, end
            place = text.find(name, end)
