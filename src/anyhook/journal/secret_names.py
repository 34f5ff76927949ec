"""Secret names: where a text contains the name of a secret, and whether a whole name is one. It looks only at names;
`secret_values` and `redact` judge the values. Also the prefixes of providers' tokens, from their documents. No regular
expressions: see `suspect`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
OF_NAME = LETTERS | frozenset("_-.")

PLAIN = (
    "secret", "token", "credential", "cookie", "pwd", "authorization", "mnemonic", "creds", "connectionstring",
    "connection_string", "seed_phrase", "recovery_phrase", "private-lines", "rediscli_auth",
)  # fmt: skip
"""Parts of names whose values are secrets, wherever in a name they are."""
AFTER_PASS = ("word", "wd", "phrase", "code")
BEFORE_KEY = (
    "api", "access", "private", "auth", "signing", "encryption", "account", "master", "app", "shared", "admin",
    "license", "deploy", "client", "session", "jwt", "crypt", "subscription",
)  # fmt: skip
"""Before `key`, these name a secret: `api_key`, `AccessKey`, `master-key`. Most keys are not secret."""
_BEFORE_KEY = tuple(word + sign for word in BEFORE_KEY for sign in ("", "_", "-", " "))
NOT_PASS = ("bypass", "compass", "trespass", "surpass", "encompass", "underpass", "overpass")
COUNTS = ("tokens", "token_count", "tokenize", "tokenizer", "secretary", "passwordless", "cookies", "tokenclass")
"""Names that only look like these."""
ABOUT = frozenset(
    {
        "type", "url", "uri", "endpoint", "name", "names", "field", "length", "len", "size", "expires", "expiry", "at",
        "expiration", "in", "count", "limit", "path", "file", "dir", "domain", "policy", "ttl", "timeout", "parser",
        "version", "budget", "enabled", "required", "rounds", "method", "mode", "label", "hint", "placeholder",
        "algorithm", "secure", "header", "format", "alg", "prefix", "regex", "pattern", "class", "store", "manager",
        "provider", "ref", "helper", "reader", "stdin", "only", "index", "usage", "cost", "price", "scope", "scopes",
        "samesite", "httponly", "address", "addresses", "symbol", "decimals", "age", "status", "valid", "exists",
        "description", "title", "error", "errors", "reset", "strength", "max", "min",
    }
)  # fmt: skip
"""Last words of names of values that are about a secret but do not contain one."""
STEMS = (
    "pass",
    "secret",
    "token",
    "key",
    "auth",
    "cred",
    "cookie",
    "pw",
    "connection",
    "mnemonic",
    "phrase",
    "e-lines",
)
"""Every name of a secret contains one of these; most texts contain none, so the check ends early."""


def places(low: str) -> Iterator[tuple[int, int, bool]]:
    """Start and end of what may name a secret in a lower-case text (in doubt yes), and whether it does so only at the
    end of a name."""
    for stem in PLAIN:
        place = low.find(stem)
        while place >= 0:
            if not low.startswith(COUNTS, place):
                yield place, place + len(stem), False
            place = low.find(stem, place + 1)
    place = low.find("pass")
    while place >= 0:
        end = place + 4
        if low.startswith(AFTER_PASS, end):
            if not low.startswith(COUNTS, place):
                yield place, end, False
        elif not low[end : end + 1].isalnum() and not low.endswith(NOT_PASS, 0, end):
            yield place, end, True
        place = low.find("pass", end)
    place = low.find("key")
    while place >= 0:
        if low.endswith(_BEFORE_KEY, 0, place):
            yield place, place + 3, False
        place = low.find("key", place + 3)
    for word in ("pw", "auth"):
        place = low.find(word)
        while place >= 0:
            end = place + len(word)
            before = low[place - 1 : place]
            if not low[end : end + 1].isalnum() and not before.isalnum():
                yield place, end, True
            place = low.find(word, end)


def names_secret(low: str) -> bool:
    """Whether a lower-case text contains the name of a secret, and not only similar names."""
    return next(places(low), None) is not None


def whole(text: str, start: int, end: int) -> tuple[int, int]:
    """Start and end of the whole name at a place."""
    while start > 0 and text[start - 1] in OF_NAME:
        start -= 1
    while end < len(text) and text[end] in OF_NAME:
        end += 1
    return start, end


def words_of(name: str) -> list[str]:
    """The words of a name, whichever way they are joined: `dbPassword`, `DB_PASSWORD`, `db-password`."""
    made = ""
    for place, letter in enumerate(name):
        before = name[place - 1 : place]
        if letter not in LETTERS or (letter.isupper() and before.islower()):
            made += " "
        made += letter if letter in LETTERS else ""
    return made.lower().split()


def is_secret_name(name: str) -> bool:
    """Whether the value of a key with this name is a secret; of `auth` it depends on the value."""
    words = words_of(name)
    if not words or words[-1] in ABOUT:
        return False
    return any(not short or words[-1].endswith(("pass", "pw")) for _, _, short in places(name.lower()))


def is_auth(name: str) -> bool:
    return words_of(name)[-1:] == ["auth"]


TOKENS = (
    # models
    ("sk-", 20), ("gsk_", 20), ("xai-", 20), ("pplx-", 20), ("hf_", 20), ("r8_", 30), ("nvapi-", 40), ("tvly-", 20),
    # code and packages
    ("ghp_", 20), ("gho_", 20), ("ghu_", 20), ("ghs_", 20), ("ghr_", 20), ("github_pat_", 20), ("glpat-", 16),
    ("gldt-", 16), ("glrt-", 16), ("glptt-", 20), ("glft-", 16), ("glsoat-", 16), ("glcbt-", 16), ("gloas-", 30),
    ("glimt-", 16), ("glagent-", 20), ("glffct-", 16), ("ATBB", 28), ("ATATT3", 20), ("ATCTT3", 20), ("npm_", 30),
    ("pypi-", 30), ("rubygems_", 40), ("CLOJARS_", 50), ("dckr_pat_", 20), ("dckr_oat_", 20), ("sgp_", 40),
    ("bkua_", 30), ("AKCp", 60),
    # clouds
    ("AKIA", 16), ("ASIA", 16), ("ABIA", 16), ("ACCA", 16), ("ABSK", 60), ("LTAI", 16), ("AIza", 30), ("ya29.", 20),
    ("GOCSPX-", 20), ("dop_v1_", 30), ("doo_v1_", 30), ("dor_v1_", 30), ("HRKU-", 30), ("fo1_", 40), ("pul-", 40),
    ("sbp_", 40), ("sb_secret_", 20), ("tskey-", 16), ("vcp_", 20), ("vercel_blob_rw_", 20), ("pscale_tkn_", 30),
    ("pscale_pw_", 30), ("v1.0-", 70), ("EAACEdEose0cBA", 20),
    # vaults
    ("hvs.", 20), ("hvb.", 30), ("hvr.", 20), ("dp.pt.", 30), ("dp.st.", 30), ("dp.ct.", 30), ("dp.sa.", 30),
    ("dp.scim.", 30), ("dp.audit.", 30), ("ops_eyJ", 60), ("AGE-SECRET-KEY-1", 20), ("atlasv1.", 50),
    # chats, mail, money, work
    ("xoxb-", 15), ("xoxp-", 15), ("xoxa-", 15), ("xoxr-", 15), ("xoxs-", 15), ("xoxc-", 15), ("xoxd-", 15),
    ("xoxe.", 20), ("xoxe-", 20), ("xapp-", 15), ("xwfp-", 15), ("SG.", 30), ("xkeysib-", 60), ("xsmtpsib-", 60),
    ("sk_live_", 16), ("sk_test_", 16), ("rk_live_", 16), ("rk_test_", 16), ("pk_live_", 16), ("whsec_", 16),
    ("sq0atp-", 20), ("sq0csp-", 30), ("EAAA", 50), ("shpat_", 20), ("shpss_", 20), ("shpca_", 20), ("shppa_", 20),
    ("FLWSECK-", 20), ("FLWSECK_TEST-", 20), ("duffel_live_", 30), ("duffel_test_", 30), ("EZAK", 50), ("lin_api_", 20),
    ("lin_oauth_", 20), ("ntn_", 30), ("secret_", 40), ("figd_", 30), ("PMAK-", 40), ("tfp_", 40), ("rdme_", 60),
    # watching
    ("sntrys_", 20), ("sntryu_", 40), ("NRAK-", 20), ("NRII-", 20), ("NRAA-", 20), ("NRSP-", 20), ("glsa_", 30),
    ("glc_", 30), ("dt0c01.", 60), ("dt0s01.", 60), ("phx_", 30),
    # of no provider
    ("eyJ", 30),
)  # fmt: skip
"""Prefixes of known tokens, and how many characters must follow at least."""
HEX_TOKENS = (("SK", 32), ("dapi", 32), ("key-", 32))
"""The same for tokens that continue with exactly this many hexadecimal digits."""
SCHEMES = ("bearer ", "basic ")
PEM, PEM_KIND = "-----BEGIN ", "PRIVATE KEY"
HOOKS = (
    "hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/", "/api/webhooks/",
    "/webhookb2/", "outlook.office.com/webhook/", "hooks.zapier.com/hooks/", "maker.ifttt.com/", "api.telegram.org/bot",
    "/open-apis/bot/v2/hook/",
)  # fmt: skip
"""URLs that are secret after this prefix: anyone who has them may post there."""
OPEN_HOOKS = tuple(hook for hook in HOOKS if hook[0] == "/")
"""Those of any host."""
QUERY = ("sig", "signature", "session", "sid", "sessionid", "phpsessid", "jsessionid", "hmac")
"""Names in URLs and cookies whose values are secrets if they look random. Elsewhere these are ordinary words."""
