"""Secrets by their path: kinds of files that only their owner should read."""

from __future__ import annotations

from anyhook.model.pattern import re

KINDS: tuple[tuple[str, str], ...] = (
    ("private key", r"(?:^|/)(?:id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|identity|ssh_host_\w+_key)$|(?:^|"
        r"/)\.ssh/(?!.*\.pub$|known_hosts|config|authorized_keys)[^/]+$|\.(?:pem|key|p12|pfx|ppk|jks|keystore|asc)$|"
            r"(?:^|/)\.gnupg(?:/|$)|/etc/ssl/private/"),
    ("credentials", r"(?:^|/)(?:\.aws/(?:credentials|config)|\.netrc|_netrc|\.npmrc|\.pypirc|\.pgpass|\.my\.cnf|"
        r"\.git-credentials|\.docker/config\.json|\.kube/config|\.config/gcloud/.*|\.azure/.*|"
            r"\.config/gh/hosts\.yml|\.cargo/credentials(?:\.toml)?|\.gem/credentials|\.terraform\.d/credentials.*|"
                r"\.vault-token|\.boto|\.s3cfg|credentials(?:\.json|\.ya?ml|\.toml)?|service[-_]account[^/]*\.json|"
                    r"secrets?\.(?:json|ya?ml|toml|env)|kubeconfig|htpasswd|\.htpasswd|wallet\.dat)$|(?:^|"
                        r"/)\.password-store/|/Library/Keychains/|(?:^|/)\.local/share/keyrings/"),
    ("environment file", r"(?:^|/)\.env(?:\.(?!example|sample|template|dist)[^/]*)?$|(?:^|/)\.envrc$|/proc/(?:self|"
        r"\d+|\*)/environ$"),
    ("password hashes", r"^/etc/(?:shadow|gshadow|master\.passwd|sudoers(?:\.d/.*)?)-?$"),
    ("browser data", r"(?:Cookies|Login Data|logins\.json|key4\.db|cookies\.sqlite|/Library/Messages/chat\.db)$"),
    ("shell history", r"(?:^|/)\.(?:bash|zsh|python|psql|mysql|node_repl)_history$"),
)  # fmt: skip
SIGNS = (
    "ssh", ".pem", ".key", ".p12", ".pfx", ".ppk", ".jks", "keystore", ".asc", "gnupg", "ssl/private", "id_",
    "identity", "cred", "netrc",
    "npmrc", "pypirc", "pgpass", ".my.cnf", "docker", "kube", "gcloud", "azure", "gh/hosts", "vault", ".boto",
    "s3cfg", "aws/", "service",
    "secret", "htpasswd", "wallet", "password", "eychain", "keyring", ".env", "environ", "shadow", "master.passwd",
    "sudoers", "ookies",
    "Login", "logins", "key4", "history", "Messages",
)  # fmt: skip
"""Every path of a secret has one of these parts: checking for them first is faster than compiling the patterns."""


def kind_of_path(path: str, home: str) -> str:
    """What kind of secret a file contains, by its path, or ""."""
    if path == f"{home}/.ssh" or path.startswith((f"{home}/.ssh/*", f"{home}/.aws/*", f"{home}/.gnupg/*")):
        return "private key"
    if not any(sign in path for sign in SIGNS):
        return ""
    return next((kind for kind, pattern in KINDS if re.search(pattern, path)), "")
