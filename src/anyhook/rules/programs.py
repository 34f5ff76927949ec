"""How `runs …` matches one program: its name, sub-commands in order, options in any order and spelling. Tables say
which options of well-known programs take a value, and which spellings mean the same option."""

from __future__ import annotations

from anyhook.model.record import Record
from anyhook.rules.wildcards import any_like, is_plain, like

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Alternatives = tuple[str, ...]

# Options before the sub-command that take the next word as their value.
VALUED: dict[str, frozenset[str]] = {
    name: frozenset(options.split())
    for name, options in (
        ("git", "-C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix -m --message -o"),
        ("docker", "-H --host -c --context -l --log-level --config -f --file -p --project-name --filter"),
        ("podman", "-H --host -c --connection --log-level --root --url --filter"),
        ("docker-compose", "-f --file -p --project-name --profile --env-file"),
        ("kubectl", "-n --namespace --context --cluster --user --kubeconfig -s --server --token --as -l --selector -o"),
        ("oc", "-n --namespace --context --cluster --user --kubeconfig -s --server --token --as -l --selector -o"),
        ("helm", "-n --namespace --kube-context --kubeconfig"),
        ("aws", "--profile --region --output --query --endpoint-url --cli-read-timeout --color"),
        ("gcloud", "--project --account --configuration --format --zone --region --filter"),
        ("az", "--subscription -g --resource-group -o --output -n --name --query"),
        ("gh", "-R --repo --hostname"),
        ("npm", "--prefix -C -w --workspace --registry"),
        ("pnpm", "--prefix -C --dir -F --filter"),
        ("yarn", "--cwd"),
        ("cargo", "--manifest-path --target --config -Z --color"),
        ("systemctl", "-H --host -M --machine -t --type -p --property"),
        ("brew", ""),
        ("apt", "-o -c -t"),
        ("apt-get", "-o -c -t"),
        ("pip", "--python --cache-dir --log --proxy -C --config-settings"),
        ("pip3", "--python --cache-dir --log --proxy -C --config-settings"),
        ("terraform", ""),
        ("vault", "-address -namespace"),
        ("make", "-C -f -I -o -W"),
        ("rm", ""),
    )
}
# Spellings of one option, by program or program and sub-command.
SAME: dict[str, tuple[tuple[str, ...], ...]] = {
    "rm": (("-r", "-R", "--recursive"), ("-f", "--force"), ("-d", "--dir")),
    "cp": (("-r", "-R", "--recursive"), ("-f", "--force"), ("-a", "--archive")),
    "mv": (("-f", "--force"),),
    "ln": (("-f", "--force"), ("-s", "--symbolic")),
    "chmod": (("-R", "--recursive"),),
    "chown": (("-R", "--recursive"),),
    "chgrp": (("-R", "--recursive"),),
    "grep": (("-r", "-R", "--recursive"),),
    "sed": (("-i", "--in-place"), ("-n", "--quiet")),
    "tar": (("-x", "--extract"), ("-c", "--create"), ("-C", "--directory")),
    "curl": (("-o", "--output"), ("-d", "--data"), ("-F", "--form"), ("-X", "--request"), ("-T", "--upload-file")),
    "wget": (("-O", "--output-document"),),
    "rsync": (("-n", "--dry-run"), ("-a", "--archive")),
    "git": (("-f", "--force"),),
    "git push": (("-f", "--force"), ("-n", "--dry-run"), ("-d", "--delete")),
    "git clean": (("-f", "--force"), ("-n", "--dry-run")),
    "git commit": (("-n", "--no-verify"), ("-a", "--all")),
    "git branch": (("-d", "--delete"), ("-f", "--force"), ("-m", "--move")),
    "git restore": (("-S", "--staged"), ("-W", "--worktree")),
    "docker": (("-f", "--force"), ("-a", "--all"), ("-v", "--volumes")),
    "podman": (("-f", "--force"), ("-a", "--all"), ("-v", "--volumes")),
    "kubectl": (("-A", "--all-namespaces"), ("-n", "--namespace"), ("-f", "--filename")),
    "npm": (("-g", "--global"), ("-f", "--force")),
    "truncate": (("-s", "--size"),),
    "shred": (("-u", "--remove"),),
}
WHOLE = frozenset(
    {
        "find", "terraform", "tofu", "java", "javac", "go", "openssl", "ffmpeg", "gcc", "clang", "cc", "vault", "mvn",
        "xcodebuild", "ant", "packer", "nomad", "consul", "dscl", "diskutil",
    }
)  # fmt: skip
"""Programs whose options are whole words after one dash: `-delete` does not bundle letters."""
RUN_OTHERS = (
    "*sh", "source", ".", "eval", "exec", "python*", "pypy*", "node*", "deno", "bun*", "perl*", "ruby*", "php*", "lua*",
    "npx", "uvx", "pipx", "npm", "pnpm", "yarn", "make", "go", "docker*", "podman*", "nerdctl", "xargs", "parallel",
    "*.*", "*/*",
)  # fmt: skip
"""Programs that run others: `--help` may belong to the other program."""
OFF = ("none", "false")
"""With these values an option counts as not given: `--dry-run=none`."""
MIN_ABBREVIATED = 5
"""The shortest abbreviation of a long option that is accepted, dashes included."""


class Words(Record):
    """A program's arguments, sorted."""

    options: tuple[tuple[str, str | None], ...]
    """Long options, whole words after one dash, and what follows `=`."""
    letters: str
    """The letters of all bundles."""
    operands: tuple[tuple[str, ...], ...]
    """The words that are not options. There are two readings if it is unknown which options take a value."""


def sort_words(name: str, args: Sequence[str]) -> Words:
    """Options and operands of one program."""
    valued = VALUED.get(name)
    options: list[tuple[str, str | None]] = []
    letters = ""
    operands: list[str] = []
    fewer: list[str] = []
    skip = False
    ended = False
    for place, word in enumerate(args):
        if skip:
            skip = False
            continue
        if ended or not word.startswith("-") or word == "-":
            operands.append(word)
            if ended or not _follows_option(args, place):
                fewer.append(word)
            continue
        if word == "--":
            ended = True
            continue
        key, sign, value = word.partition("=")
        following = args[place + 1] if place + 1 < len(args) else None
        if valued is not None and key in valued and not sign and following is not None:
            value, skip = following, True
        given = value if sign or skip else None
        options.append((key, given))
        if not key.startswith("--"):
            if name not in WHOLE:
                letters += _bundle(key[1:], valued)
            if len(word) > 2:
                options.append((word[:2], word[2:].removeprefix("=")))
        if given is None and following is not None and not following.startswith("-"):
            options.append((key, following))
    readings = (tuple(operands),) if valued is not None or fewer == operands else (tuple(operands), tuple(fewer))
    return Words(tuple(options), letters, readings)


def asks_help(name: str, args: Sequence[str]) -> bool:
    """Whether a program only prints its help: `--help` before any other option. A program that runs others may pass
    `--help` on and still run."""
    asked = next((word for word in args if word.startswith("-")), "")
    return (asked == "--help" or tuple(args) == ("--version",)) and not any_like(RUN_OTHERS, name)


def _bundle(letters: str, valued: frozenset[str] | None) -> str:
    """The letters of a bundle, up to the first one that takes the rest as its value."""
    for place, letter in enumerate(letters):
        if valued is not None and f"-{letter}" in valued:
            return letters[: place + 1]
    return letters


def _follows_option(args: Sequence[str], place: int) -> bool:
    """Whether a word may be the value of the option before it."""
    before = args[place - 1] if place else ""
    return before.startswith("-") and before not in ("-", "--") and "=" not in before


def spellings_of(name: str, operands: tuple[str, ...], option: str) -> tuple[str, ...]:
    """The option in every spelling that the tables know."""
    for key in (f"{name} {operands[0]}" if operands else name, name):
        for same in SAME.get(key, ()):
            if option in same:
                return same
    return (option,)


def has_option(name: str, words: Words, wanted: str) -> bool:
    """Whether an option was given, in any spelling; `--opt=VALUE` also compares the value."""
    key, sign, value = wanted.partition("=")
    for spelled in spellings_of(name, words.operands[0], key):
        if sign:
            given = [found for option, found in words.options if _is(option, spelled) and found is not None]
            if any(like(value, each) for each in given):
                return True
        elif any(_is(option, spelled) and given not in OFF for option, given in words.options) or (
            not spelled.startswith("--") and name not in WHOLE and all(char in words.letters for char in spelled[1:])
        ):
            return True
    return False


def _is(option: str, wanted: str) -> bool:
    if option == wanted:
        return True
    if not is_plain(wanted):
        return like(wanted, option)
    # An abbreviation that ends at a dash is a different option: `--force`, `--force-with-lease`.
    shortened = wanted.startswith("--") and len(option) >= MIN_ABBREVIATED and wanted.startswith(option)
    return shortened and wanted[len(option)] != "-"


def has_operands(words: Words, wanted: tuple[Alternatives, ...]) -> bool:
    """Whether the first operands are the wanted ones, in order."""
    for operands in words.operands:
        if len(operands) < len(wanted):
            continue
        for each, operand in zip(wanted, operands, strict=False):
            if operand not in each and not any_like(each, operand):
                break
        else:
            return True
    return False
