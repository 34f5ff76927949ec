"""A table of what programs do with the paths and addresses among their arguments. A program without a row does nothing
with them; it is still in `runs`."""

from __future__ import annotations

import os
import re

from anyhook.model.record import Record
from anyhook.programs.options import SortedOptions, sort_options
from anyhook.programs.paths import STREAMS, resolve
from anyhook.programs.program import Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anyhook.programs.collect import Collector
    from anyhook.programs.program import Program


class Effect(Record):
    """One program. The values say which arguments: `all`, `first`, `rest` (all but the first), `last`, `sources` (all
    but the last)."""

    values: str = ""
    """Short options that take a value, then long ones, separated by spaces."""
    reads: str = ""
    writes: str = ""
    deletes: str = ""
    changes: str = ""
    connects: str = ""
    read_by: tuple[str, ...] = ()
    """Options whose value is a file that it reads,"""
    write_by: tuple[str, ...] = ()
    """or writes,"""
    deletes_by: tuple[str, ...] = ()
    """or deletes."""
    name_by: tuple[str, ...] = ()
    """Options whose value is the name of a file that it writes, in the folder that one of the next options names."""
    folder_by: tuple[str, ...] = ()
    target: tuple[str, ...] = ()
    """Options that name the folder to which everything goes, so that all arguments are sources."""
    writes_if: tuple[str, ...] = ()
    """Options that make it write what it otherwise reads."""
    deletes_if: tuple[str, ...] = ()
    """Options that make it delete what it otherwise reads or writes."""
    moves_if: tuple[str, ...] = ()
    """Options that make it delete what it has read."""
    skip_unless: tuple[str, ...] = ()
    """Its first argument is a program or a pattern, unless one of these options gave it."""
    not_if: tuple[str, ...] = ()
    """Options with which it changes nothing."""


READ = Effect(reads="all")

WRITE = Effect(writes="all")

DELETE = Effect(deletes="all")

DRY = ("-n", "--dry-run")

EFFECTS: dict[str, Effect] = {
    **dict.fromkeys(
        (
            "cat", "tac", "less", "more", "most", "bat", "batcat", "nl", "od", "hexdump", "hd", "strings", "wc",
            "file", "stat", "ls",
            "dir", "vdir", "exa", "eza", "lsd", "du", "md5sum", "sha1sum", "sha224sum", "sha256sum",
            "sha512sum", "shasum", "cksum", "b2sum",
            "sum", "zcat", "bzcat", "xzcat", "zless", "rev", "column", "paste", "join", "comm", "cmp", "expand",
            "fold", "fmt", "pr", "look",
            "source", ".", "diff3", "sdiff", "colordiff", "delta", "readelf", "objdump", "nm", "ldd", "lsattr",
            "getfacl", "mdcat", "glow",
            "xsel", "pbcopy", "realpath", "readlink", "identify", "exiftool", "visudo",
        ),
        READ,
    ),
    "head": Effect("nc lines bytes", reads="all"), "tail": Effect("nc lines bytes pid sleep-interval", reads="all"),
    "cut": Effect("dfbc delimiter fields", reads="all"),
    "base64": Effect("wibo wrap input output", reads="all", read_by=("-i",), write_by=("-o", "--output")),
    "base32": Effect("w", reads="all"),
    "xxd": Effect("lsgco", reads="first", writes="rest"), "uniq": Effect("fsw", reads="first", writes="rest"),
    "tree": Effect("LPIoH", reads="all", write_by=("-o",)), "diff": Effect("ULIx exclude label", reads="all"),
    "tee": WRITE, "shuf": Effect("ionr head-count output random-source input-range", reads="all"),
    "grep": Effect("efmABCD regexp file max-count include exclude include-dir exclude-dir color context "
        "after-context before-context", reads="all", read_by=("-f", "--file"), skip_unless=("-e", "--regexp", "-f",
            "--file")),
    "rg": Effect("efgmABCtTjMr regexp file glob max-count type context", reads="all", read_by=("-f",),
        skip_unless=("-e", "--regexp", "-f", "--files")),
    "ag": Effect("GmABC", reads="all", skip_unless=("-g",)), "ack": Effect("mABC", reads="all", skip_unless=("-f",)),
    "jq": Effect("fL from-file indent", reads="all", skip_unless=("-f", "--from-file")),
    "yq": Effect("op", reads="all", skip_unless=("--from-file",), writes_if=("-i", "--inplace", "--in-place")),
    "awk": Effect("fFvi", reads="all", read_by=("-f",), skip_unless=("-f",), writes_if=("inplace",)),
    "sed": Effect("efl expression file line-length", reads="all", read_by=("-f", "--file"), skip_unless=("-e",
        "--expression", "-f", "--file"), writes_if=("-i", "--in-place")),
    "sort": Effect("kotST key output field-separator buffer-size temporary-directory", reads="all", write_by=("-o",
        "--output")),
    "split": Effect("abClntd", reads="first"), "csplit": Effect("fbn", reads="first"),
    "script": Effect("cEIBmoOT command echo log-in log-out log-io log-timing output-limit", writes="first",
        write_by=("-I", "-O", "-B", "-T", "--log-in", "--log-out", "--log-io", "--log-timing")),
    "time": Effect("of output format", write_by=("-o", "--output")), "logsave": Effect("", writes="first"),
    "umount": Effect("ONt", changes="all"),
    "openssl": Effect(" in out keyout key cert CAfile inkey pass passin passout config days newkey subj connect",
        read_by=("-in", "-key", "-inkey", "-cert"), write_by=("-out", "-keyout"), ),
    "gpg": Effect("oru output recipient", reads="all", write_by=("-o", "--output")),
    "ssh-keygen": Effect("tbfCNPlER", write_by=("-f",)), "ssh-add": READ,
    "ssh-copy-id": Effect("ipoF", reads="", read_by=("-i",), connects="first"),
    "rm": DELETE, "rmdir": DELETE, "unlink": DELETE, "shred": Effect("nsr iterations size", deletes="all"),
    "srm": DELETE, "wipe": DELETE, "trash": DELETE, "trash-put": DELETE, "rimraf": DELETE, "del": DELETE,
    "del-cli": DELETE, "remove_directory": DELETE, "erase": DELETE, "rd": DELETE, "git-rm": DELETE,
    **dict.fromkeys(("Get-Content", "gc"), Effect(" Path LiteralPath TotalCount Tail Encoding", reads="all",
        read_by=("-Path", "-LiteralPath"))),
    **dict.fromkeys(("Set-Content", "Add-Content", "Out-File"), Effect(" Path LiteralPath FilePath Value Encoding",
        writes="first", write_by=("-Path", "-LiteralPath", "-FilePath"))),
    **dict.fromkeys(("Remove-Item", "ri", "Clear-Content"), Effect(
        " Path LiteralPath Filter Include Exclude ErrorAction", deletes="all",
        deletes_by=("-Path", "-LiteralPath"), not_if=("-WhatIf",))),
    "mv": Effect("tS target-directory suffix", deletes="sources", writes="last", target=("-t", "--target-directory")),
    "rename": Effect("", writes="rest"),
    "cp": Effect("tS target-directory suffix", reads="sources", writes="last", target=("-t", "--target-directory")),
    "gcp": Effect("tS", reads="sources", writes="last", target=("-t",)),
    "install": Effect("mogtSC mode owner group target-directory suffix", reads="sources", writes="last",
        target=("-t", "--target-directory")),
    "ditto": Effect("", reads="sources", writes="last"),
    "ln": Effect("tS target-directory suffix", reads="sources", writes="last", target=("-t", "--target-directory")),
    "link": Effect("", reads="first", writes="last"),
    "rsync": Effect("eTfBM rsh exclude include files-from exclude-from include-from log-file bwlimit backup-dir "
        "temp-dir link-dest compare-dest chmod chown port rsync-path filter", reads="sources", writes="last",
            deletes_if=("--delete", "--delete-after", "--delete-before", "--delete-excluded", "--del"),
                write_by=("--log-file", "--backup-dir"), moves_if=("--remove-source-files",), not_if=DRY),
    "scp": Effect("cFiJlloPSX", reads="sources", writes="last", read_by=("-i",), target=("-t",)),
    "sftp": Effect("BbcDFiJloPRSs", connects="first", writes="rest"), "rclone": Effect("", reads="", writes=""),
    "touch": Effect("drt date reference time", writes="all"), "mkdir": Effect("mZ mode", writes="all"),
    "mkfifo": WRITE, "mknod": Effect("m", writes="first"), "truncate": Effect("sr size reference", writes="all"),
    "fallocate": Effect("lon length offset", writes="all"),
    "chmod": Effect(" reference", changes="rest"), "chown": Effect(" reference from", changes="rest"),
    "chgrp": Effect(" reference", changes="rest"), "chattr": Effect("v", changes="rest"),
    "setfacl": Effect("mxM modify remove", changes="all"), "xattr": Effect("", changes="last"),
    "setcap": Effect("", changes="rest"), "chflags": Effect("", changes="rest"),
    "chcon": Effect("turl", changes="rest"),
    "gzip": Effect("S", writes="all", not_if=("-c", "--stdout", "-l", "-t")),
    "gunzip": Effect("S", writes="all", not_if=("-c", "--stdout", "-l", "-t")),
    "bzip2": Effect("", writes="all", not_if=("-c",)), "xz": Effect("T", writes="all", not_if=("-c", "-l")),
    "zstd": Effect("oT", reads="all", write_by=("-o",)),
    "zip": Effect("xibt", writes="first", reads="rest", moves_if=("-m", "--move")),
    "unzip": Effect("dx", reads="first", write_by=("-d",), not_if=("-l", "-t", "-p")),
    "7z": Effect("", reads="rest", moves_if=("-sdel",)), "unrar": Effect("", reads="rest"),
    "cpio": Effect("FDI directory", read_by=("-I", "-F"), write_by=("-D", "--directory")),
    "ar": Effect("", writes=""),
    "patch": Effect("pidoBrF input directory output", writes="first", read_by=("-i", "--input"), write_by=("-o",
        "--output"), not_if=("--dry-run",)),
    "ed": WRITE, "ex": Effect("ctS", writes="all"), "vi": Effect("ctS", writes="all"),
    "vim": Effect("ctST", writes="all"), "nvim": Effect("ctS", writes="all"), "nano": WRITE,
    "emacs": Effect(" eval funcall load", writes="all"),
    "code": READ, "sponge": WRITE,
    "curl": Effect("AbcCdDeEFhHKmoPQrtTuUwxXyYz output data data-raw data-binary data-urlencode form header user "
        "url cookie cookie-jar upload-file proxy request cert key cacert config max-time retry connect-timeout "
            "user-agent referer output-dir write-out resolve netrc-file dump-header range limit-rate interface "
                "form-string json", connects="all", name_by=("-o", "--output"), folder_by=("--output-dir",),
        write_by=("-c", "--cookie-jar", "-D", "--dump-header"), read_by=("-T", "--upload-file", "-K", "--config", "-E",
            "--cert", "--key", "--netrc-file")),
    "wget": Effect("OPoaetTUQiBwlAR output-document directory-prefix output-file append-output header user password "
        "post-data post-file body-file body-data input-file timeout tries user-agent level method", connects="all",
            write_by=("-O", "--output-document", "-P", "--directory-prefix", "-o", "-a"), read_by=("-i",
                "--input-file", "--post-file", "--body-file")),
    "http": Effect("ao", connects="http"), "https": Effect("ao", connects="http"),
    "xh": Effect("ao", connects="http"), "aria2c": Effect("dojxs dir out", connects="all", write_by=("-d", "--dir"),
        name_by=("-o", "--out"), folder_by=("-d", "--dir")),
    "axel": Effect("on", connects="all", write_by=("-o",)), "lynx": Effect("", connects="all"),
    "w3m": Effect("", connects="all"), "links": Effect("", connects="all"),
    "ssh": Effect("bcDEeFIiJlmoOpQRSWwL", connects="first", read_by=("-i", "-F")),
    "mosh": Effect("", connects="first"), "telnet": Effect("l", connects="first"),
    "nc": Effect("wpsiXxqTOIeclm", connects="first"), "ncat": Effect("wpsiecm", connects="first"),
    "netcat": Effect("wpsiXxqec", connects="first"), "ftp": Effect("", connects="first"),
    "lftp": Effect("eu", connects="first"), "ping": Effect("cisWt", connects="first"),
    "dd": Effect(), "tar": Effect(), "git": Effect(), "find": Effect(), "socat": Effect(),
    "wipefs": Effect("ot", reads="all", writes_if=("-a", "--all", "-o", "-f"), not_if=("-n", "--no-act")),
    "blkdiscard": Effect("osp", writes="all"),
    "fdisk": Effect("", writes="first", not_if=("-l", "--list")),
    "sfdisk": Effect("", writes="first", not_if=("-l", "-d", "--dump", "--list")),
    "gdisk": Effect("", writes="first", not_if=("-l",)),
    "sgdisk": Effect("ntcdu", writes="all", not_if=("-p", "--print")),
    "mkswap": Effect("LU", writes="all"), "badblocks": Effect("bcsp", reads="first", writes_if=("-w", "-n")),
    "hdparm": Effect("", reads="all"), "cryptsetup": Effect("", writes=""), "pvcreate": WRITE, "pvremove": DELETE,
    "vgremove": Effect(), "lvremove": DELETE, "zpool": Effect(), "diskutil": Effect(),
    "e2fsck": Effect("", reads="all"), "tune2fs": Effect("", writes="last"),
    "sqlite3": Effect(" cmd separator init", reads="first", writes="first"), "tsort": READ,
    "ssh-keyscan": Effect("ptf", connects="all"), "dig": Effect("", connects="all"),
    "nslookup": Effect("", connects="all"), "host": Effect("", connects="all"),
    "prettier": Effect(" ignore-path config parser plugin log-level", reads="all", writes_if=("--write", "-w")),
    "black": Effect("l", writes="all", not_if=("--check", "--diff")),
    "isort": Effect("", writes="all", not_if=("--check", "--diff", "-c")),
    "gofmt": Effect("r", reads="all", writes_if=("-w",)),
    "autopep8": Effect("", reads="all", writes_if=("-i", "--in-place")),
    "clang-format": Effect("", reads="all", writes_if=("-i",)), "dos2unix": WRITE, "unix2dos": WRITE,
    "logrotate": Effect("slm state log", reads="all", write_by=("-s", "--state", "-l", "--log")),
    "crontab": Effect("u", reads="all"), "at": Effect("fqt", read_by=("-f",)),
    "docker-cp": Effect("", reads="sources", writes="last"), "mount": Effect("toLU", changes="last"),
    "pandoc": Effect("oft output from to", reads="all", write_by=("-o", "--output")),
    "ffmpeg": Effect("", writes="last"), "convert": Effect("", reads="sources", writes="last"),
    "gcc": Effect("oIL", reads="all", write_by=("-o",)), "cc": Effect("oIL", reads="all", write_by=("-o",)),
    "clang": Effect("oIL", reads="all", write_by=("-o",)), "g++": Effect("oIL", reads="all", write_by=("-o",)),
}  # fmt: skip

for _name, _like in {
    "egrep": "grep", "fgrep": "grep", "zgrep": "grep", "ugrep": "grep", "gawk": "awk", "mawk": "awk", "nawk": "awk",
    "gsed": "sed", "ghead": "head",
    "gtar": "tar", "bsdtar": "tar", "gfind": "find", "gls": "ls", "grm": "rm", "gmv": "mv", "busctl": "ls",
    "page": "less", "view": "less", "unxz": "gunzip", "bunzip2": "gunzip", "uncompress": "gunzip", "pigz": "gzip",
    "gdd": "dd", "dcfldd": "dd", "pv": "cat", "ripgrep": "rg", "curlie": "curl", "wget2": "wget", "rview": "less",
    "vimdiff": "vim", "pico": "nano", "micro": "nano", "hx": "vim", "kate": "nano", "gedit": "nano",
    "sudoedit": "nano",
}.items():  # fmt: skip
    EFFECTS[_name] = EFFECTS[_like]

TEXT_ONLY = frozenset(
    {
        "echo",
        "printf",
        "grep",
        "egrep",
        "fgrep",
        "rg",
        "sed",
        "awk",
        "jq",
        "git",
        "test",
        "[",
        "basename",
        "dirname",
        "expr",
        "true",
        "false",
        "logger",
        "say",
        "notify-send",
        "cowsay",
        "tr",
    }
)

"""Programs for which an address among their arguments is only text."""


# What the table of effects says about one program's arguments: paths that it reads, writes and deletes, and addresses.


URL = re.compile(
    r"(?:https?|ftps?|sftp|ssh|git|wss?|s3|gs|rsync|tcp|ldaps?|rediss?|postgres(?:ql)?|mysql|mongodb(?:\+srv)?|amqps?|git\+https?|git\+ssh)://[^\s'\"<>|]+"
)

REMOTE = re.compile(r"(?:[\w.-]+@)?([\w.-]{2,}|\[[0-9a-f:]+\]):(?!\\)")

"""`host:path` and `user@host:path`."""

SWITCHED = ("del", "erase", "rd", "rmdir")

SWITCH = re.compile(r"/[a-zA-Z]")

"""`/s`, `/q`: options of Windows commands."""

LISTERS = frozenset(
    {
        "ls",
        "dir",
        "vdir",
        "exa",
        "eza",
        "lsd",
        "tree",
        "du",
        "stat",
        "file",
        "realpath",
        "readlink",
        "lsattr",
        "getfacl",
    }
)

"""Programs that read names and sizes, but not the contents of files."""


def by_table(program: Program, effect: Effect, into: Collector, words: Sequence[Word] | None = None) -> None:
    """Add what the table says about a program."""
    given = program.words if words is None else words
    options = sort_options(given, effect.values)
    rest = [word for word in options.rest if program.name not in SWITCHED or not SWITCH.fullmatch(word.text)]
    if effect.skip_unless and not options.has(*effect.skip_unless):
        rest = rest[1:]
    idle = options.has(*effect.not_if)
    cwd = program.cwd
    for word in _picked(effect.connects, rest):
        into.connect(word.source)
    if program.remote:
        return
    targets = options.values(*effect.target)
    writes = effect.writes
    sources = rest if targets else rest[:-1]
    if effect.target and not idle:
        writes = ""
        for word in copied(targets or rest[-1:], sources, cwd, bool(targets)):
            if not is_address(word, into):
                into.write(word, cwd)
    for word in _picked(effect.reads, rest, sources):
        if not is_address(word, into):
            into.read(word, cwd, program.name in LISTERS)
    for word in options.values(*effect.read_by):
        into.read(word, cwd)
    if idle:
        return
    if effect.moves_if and (options.has(*effect.moves_if) or any(word.text in effect.moves_if for word in given)):
        for word in _picked(effect.reads, rest, sources):
            if not is_address(word, into):
                into.delete(word, cwd)
    for word in options.values(*effect.write_by):
        into.write(word, cwd)
    for word in options.values(*effect.name_by):
        into.write(below(options.values(*effect.folder_by), word), cwd)
    for word in _picked(writes, rest, sources):
        if not is_address(word, into):
            into.write(word, cwd)
    for word in (*options.values(*effect.deletes_by), *_picked(effect.deletes, rest, sources)):
        into.delete(word, cwd)
    for word in _picked(effect.changes, rest, sources):
        into.change(word, cwd)
    if effect.writes_if and _has_prefix(options, effect.writes_if):
        for word in rest:
            into.write(word, cwd)
    if effect.deletes_if and options.has(*effect.deletes_if):
        for word in rest[-1:]:
            if not is_address(word, into):
                into.delete(word, cwd)


def copied(targets: Sequence[Word], sources: Sequence[Word], cwd: str | None, is_folder: bool) -> Iterable[Word]:
    """What a copy writes: the target, or a file with the source's name in it if it is a folder."""
    for target in targets:
        ends = target.text.endswith(("/", "/.", "/..")) or target.text in (".", "..")
        if is_folder or ends or len(sources) > 1 or (target.known and os.path.isdir(resolve(target, cwd))):
            for source in sources:
                text, shown = (re.split(r"[/:]", each.rstrip("/"))[-1] for each in (source.text, source.source))
                base = Word(target.text.rstrip("/") or "/", target.source.rstrip("/") or "/")
                yield Word(f"{base.text.rstrip('/')}/{text}", f"{base.source.rstrip('/')}/{shown}", source.globs)
        else:
            yield target


def below(folders: Sequence[Word], name: Word) -> Word:
    """A name in the folder that an option gives, or the name alone."""
    if not folders or name.text.startswith("/") or is_stream(name):
        return name
    text, source = folders[0].text.rstrip("/"), folders[0].source.rstrip("/")
    return Word(f"{text}/{name.text}", f"{source}/{name.source}", name.globs)


def _has_prefix(options: SortedOptions, names: tuple[str, ...]) -> bool:
    return options.has(*names) or any(value.text == names[0] for _, value in options.named)


def _picked(which: str, rest: Sequence[Word], sources: Sequence[Word] | None = None) -> Iterable[Word]:
    if not which:
        return ()
    if which == "all":
        return [word for word in rest if not is_stream(word)]
    if which == "first":
        return rest[:1]
    if which == "rest":
        return rest[1:]
    if which == "last":
        return rest[-1:]
    if which == "sources":
        return rest[:-1] if sources is None else sources
    if which == "http":
        return [word for word in rest if word.text.upper() != word.text or "." in word.text][:1]
    return ()


def is_stream(word: Word) -> bool:
    return word.text in STREAMS or word.text.startswith("/dev/fd/") or word.source.startswith(("<(", ">("))


def is_address(word: Word, into: Collector) -> bool:
    """`host:path` among the arguments of programs that copy."""
    if "://" in word.text or (REMOTE.match(word.text) and not word.text.startswith(("/", "."))):
        into.connect(word.source)
        return True
    return False
