"""Which spellings of a remote's URL name the same repository."""

from __future__ import annotations

from anyhook.state.repository import normalised
from each_of import each_of


@each_of(
    "url",
    [
        "https://github.com/Owner/repo",
        "https://GitHub.com/Owner/repo.git",
        "https://user:secret@github.com:443/Owner/repo.git/",
        "ssh://git@github.com/Owner/repo.git",
        "ssh://git@github.com:22/Owner/repo",
        "git@github.com:Owner/repo.git",
        "git@GITHUB.com:/Owner/repo",
        "git://github.com:9418/Owner/repo",
    ],
)
def test_forms_of_one_url_are_one(url: str) -> None:
    assert normalised(url) == "github.com/Owner/repo"


def test_other_repositories_stay_others() -> None:
    urls = [
        "https://github.com/Owner/repo", "https://github.com/owner/repo", "https://github.com:8443/Owner/repo",
        "https://gitlab.com/Owner/repo", "/github.com/Owner/repo", "https://github.com/Owner/repo2",
    ]  # fmt: skip
    assert len({normalised(url) for url in urls}) == len(urls)


@each_of("url", ["", "https://", "https://github.com/", "git@host:", "a\0b", "https://h/\nx"])
def test_what_names_no_repository_is_none(url: str) -> None:
    assert normalised(url) == ""


def test_a_path_of_this_machine_is_one() -> None:
    assert normalised("file:///srv/hub.git") == normalised("/srv/hub") == normalised("../srv/hub.git", "/x")
