"""Secret values: whether a value in the place of a secret is one, or is code, a placeholder, a number, a version.
`redact` finds where a value starts and ends."""

from __future__ import annotations

from anyhook.journal.secret_names import LETTERS, names_secret

WORDS_OF_CODE = frozenset(
    {
        "null", "true", "false", "none", "nil", "undefined", "str", "string", "bytes", "int", "number", "bool",
        "boolean",
        "any", "object", "optional", "secretstr", "buffer", "char", "text", "required", "yes", "no", "on",
        "off",
        "include", "omit", "same-origin", "keep-alive", "varchar", "unknown", "never", "void", "new", "await", "self",
        "this",
        "not", "is", "and", "or", "if", "in", "return", "function", "lambda", "async", "const", "let", "var",
    }
)  # fmt: skip
ROOTS = (
    "self.", "this.", "process.", "os.", "config.", "settings.", "env.", "request.", "req.", "args.", "options.",
    "opts.",
    "ctx.", "data.", "response.", "res.", "user.", "params.", "props.", "state.", "secrets.", "var.", "local.",
    "module.",
    "app.", "form.", "event.", "vault.", "github.", "import.meta.", "System.", "cls.", "getpass.", "body.", "payload.",
    "credentials.", "auth.", "session.", "result.", "cfg.", "conf.", "db.", "client.", "each.", "random_password.",
)  # fmt: skip
OPENERS = ("$", "{{", "<%", "%(", "[redacted]", "@{", "#{")
_VERSION = frozenset("0123456789.^~>=<*x| ")
_BASE64 = LETTERS | frozenset("+/=_-")
_HEX = frozenset("0123456789abcdefABCDEF")


def is_placeholder(text: str) -> bool:
    """Whether a whole value is a placeholder: a variable, a mask, a version number."""
    if not text or len(text) > 120:
        return False
    name = text.strip("${}@%#()").replace("_", "").replace(":-", "").replace(":?", "")
    if text[:1] == "$" and (name == "" or name.isalnum()) and (text[:2] == "${" or name.isupper() or name.islower()):
        return text[:2] != "${" or text[-1] == "}"
    if (text[:2] == "{{" and text[-2:] == "}}") or (text[:3] == "${{" and text[-2:] == "}}") or text[:2] == "$(":
        return True
    if text[:1] == "<" and text[-1:] == ">":
        return True
    if (len(text) >= 3 and len(set(text)) == 1 and text[0] in "*xX.•-_#") or text in ("%s", "%d", "{}", "...", "…"):
        return True
    low = text.lower()
    if low.startswith(("your-", "your_", "your ", "<your", "my-secret-name")) or text == "[redacted]":
        return True
    return not set(text) - _VERSION and (text[0] in "^~><=" or text.count(".") > 1) and any(map(str.isdigit, text))


def is_code(word: str, after: str, name: str) -> bool:
    """Whether a value without quotes is something else: a number, a keyword, a type, a call, a variable of a program.
    `after` is the letter behind it."""
    low = word.lower().rstrip("?")
    if not word or low in WORDS_OF_CODE or word.startswith(OPENERS) or is_placeholder(word):
        return True
    if word.replace(".", "", 1).lstrip("-").isdigit() and len(word) < 16:
        return True
    if after and after in "([" and (word.replace(".", "").replace("_", "").isalpha() or word.startswith(ROOTS)):
        return True
    if word.startswith(ROOTS) and word.replace(".", "").replace("_", "").isalnum():
        return True
    if low == name.lower() or low in (
        "password",
        "passwd",
        "token",
        "tokens",
        "secret",
        "apikey",
        "api_key",
        "pw",
        "pwd",
    ):
        return True
    plain = word.replace("_", "").replace("-", "")
    return plain.isalpha() and ("_" in word or word[0].islower()) and not word.isupper() and names_secret(low)


def looks_random(text: str, least: int = 16) -> bool:
    """Whether a text looks random: long, with letters and digits."""
    return (
        len(text) >= least
        and any(map(str.isdigit, text))
        and any(map(str.isalpha, text))
        and " " not in text
        and not is_uuid(text)
        and text[:1] not in "/.$<{"
    )


def looks_chosen(text: str) -> bool:
    """Whether a word of a sentence may be a password: no plain word, no number."""
    return len(text) >= 6 and any(map(str.isdigit, text)) and any(map(str.isalpha, text)) and text[:1] not in "$<{/("


def is_uuid(text: str) -> bool:
    return (
        len(text) == 36
        and text[8:9] == text[13:14] == text[18:19] == text[23:24] == "-"
        and is_hex(text.replace("-", ""))
    )


def is_hex(text: str) -> bool:
    return bool(text) and not set(text) - _HEX


def is_user_and_password(text: str) -> bool:
    """Whether a text is `user:password` in base 64, as basic authentication and docker's settings have it."""
    if len(text) < 8 or set(text) - _BASE64:
        return False
    from binascii import Error, a2b_base64

    try:
        said = a2b_base64(text + "=" * (-len(text) % 4))
    except (Error, ValueError):
        return False
    name, colon, _ = said.partition(b":")
    return bool(colon) and said.isascii() and bytes(said).decode("ascii").isprintable() and name != b""
