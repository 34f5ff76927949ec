"""Where secrets are: names of files that hold keys and stored credentials, for every rule file. `@keys`, `@credentials`
and `@dotenv` are these lists; `@secrets` is a file of any of them that is not public."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyhook.rules.paths import Places, compile_path, matches
from anyhook.rules.wildcards import is_plain, path_like

if TYPE_CHECKING:
    from anyhook.rules.paths import PathPattern

SECRET_PATHS: dict[str, tuple[str, ...]] = {
    "keys": (
        "id_rsa", "id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk", "*.ppk", "~/.ssh", "~/.ssh/*_rsa",
        "~/.ssh/*.pem", "~/.ssh/**", "/home/*/.ssh", "/root/.ssh", "/root/.ssh/**", "**/.ssh/id_*", "~/.gnupg",
        "~/.gnupg/**", "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d/**",
        "/etc/ssh/ssh_host_*_key", "/etc/kubernetes/**", "/var/run/secrets/**", "/run/secrets/**", "environ",
         "/etc/ssl/private/**", "*.keystore", "*.jks", "*.kdbx", "server.key", "private.key",
        "privkey.pem", "private_key.pem", "private.pem", "key.pem", "*-key.pem", "*_key.pem", "*.key", "*.p12", "*.pfx",
    ),
    "credentials": (
        "~/.aws", "~/.aws/credentials", "~/.aws/config", "~/.aws/sso/**", "~/.aws/cli/cache/**", "**/.aws/credentials",
        "~/.netrc", "**/.netrc", "~/.npmrc", "~/.pypirc", "~/.docker/config.json", "**/.docker/config.json", "~/.kube",
        "~/.kube/config", "**/.kube/config", "~/.git-credentials", "**/.git-credentials", "~/.config/gcloud",
        "~/.config/gcloud/**", "~/.config/gh", "~/.config/gh/hosts.yml", "~/.config/hub", "~/.azure", "~/.azure/**",
        "~/.vault-token", "~/.password-store/**", "~/.pgpass", "**/.pgpass", "~/.my.cnf", "~/.terraform.d/credentials*",
        "~/.cargo/credentials*", "~/.gem/credentials", "~/.m2/settings.xml", "~/.gradle/gradle.properties",
        "~/.config/op/**", "~/.config/rclone/rclone.conf", "~/.s3cfg", "~/.boto", "~/.oci/**", "~/.databrickscfg",
        "~/.snowsql/config", "~/.config/doctl/**", "~/.fly/config.yml", "~/.config/heroku/**",
        "~/.*/.credentials.json", "~/.*/auth.json", "~/.*/oauth_creds.json", "**/.bash_history",
        "**/.zsh_history", "~/.*_history", "~/.mozilla/**", "~/.config/google-chrome/**", "~/.config/chromium/**",
        "~/.thunderbird/**", "~/Library/Keychains/**", "~/Library/Application*Support/Google/Chrome/**",
        "~/Library/Application*Support/Firefox/**", "~/.local/share/keyrings/**", "~/.bitcoin/**", "~/.ethereum/**",
        "~/.config/solana/**", "~/.electrum/**", "wallet.dat", "logins.json", "credentials.json", "client_secret*.json",
        "service-account*.json", "service_account*.json", "serviceAccount*.json", "secrets.json", "secrets.yml",
        "secrets.yaml", "master.key", "credentials.yml.enc",
    ),
    "dotenv": (
        ".env", ".env.local", ".env.production", ".env.prod", ".env.staging", ".env.development", ".env.*.local",
        ".envrc", "*.env", "*.tfstate",
    ),
}  # fmt: skip
"""Name → its paths."""
PUBLIC = (
    "*.pub", "known_hosts", "~/.ssh/config", "~/.ssh/known_hosts", "~/.ssh/authorized_keys", ".env.example",
    ".env.sample", ".env.template", ".env.dist", "*.example", "*.sample", "*.template", "example.env", "sample.env",
)  # fmt: skip
"""Files beside them that hold no secret."""
_compiled: list[tuple[PathPattern, ...]] = []


def is_secret(path: str, places: Places) -> bool:
    """Whether a file of this name holds a secret."""
    if not _compiled:
        named = [each for listed in SECRET_PATHS.values() for each in listed]
        _compiled.extend((tuple(map(compile_path, named)), tuple(map(compile_path, PUBLIC))))
    secret, public = _compiled
    if any(matches(each, path, places, covers=False, may_be=False) for each in public):
        return False
    whole = path.rstrip("/*") or path  # everything in a folder counts as the folder
    if any(matches(each, found, places, covers=False) for each in secret for found in {path, whole}):
        return True
    return "**/" in path and any(_is_found(path, each, places) for each in secret)


def _is_found(path: str, secret: PathPattern, places: Places) -> bool:
    """Whether what `find` names, `FOLDER/**/NAME`, may be this file."""
    start, parts = secret
    if start not in "/~" or not all(map(is_plain, parts)) or not is_plain(path.rpartition("/")[2]):
        return False
    whole = [*filter(None, (places.home if start == "~" else "").split("/")), *parts]
    return path_like(tuple(filter(None, path.split("/"))), whole)
