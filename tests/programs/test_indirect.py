"""Commands that a shell or an interpreter runs in a roundabout way: facts have them, or say that they cannot know."""

from __future__ import annotations

import pytest

from anyhook.programs.facts import Facts
from anyhook.rules.calls import facts_of

HOME = "/nowhere/home"
SEEN = r"""
trap -- 'rm -rf ~' EXIT
trap -- 'rm -rf ~' DEBUG
PS4='$(rm -rf ~)'; set -x; ls
PS4='$(rm -rf ~)' bash -xc ls
PS1='$(rm -rf ~)' bash -i
PS0='`rm -rf ~`'
declare -n r=x; x='rm -rf ~'; eval "$r"
x='rm -rf ~'; declare -n r=x; $r
declare -n r=x; r='rm -rf ~'; eval "$x"
typeset -n r=x; x='rm -rf ~'; $r
declare -n a=b; declare -n b=c; c='rm -rf ~'; $a
perl -e 'system q(rm -rf ~)'
perl -e 'system q{rm -rf ~}'
perl -e 'system qq[rm -rf ~]'
perl -e 'exec qw(rm -rf /nowhere/home)'
ruby -e 'system %q(rm -rf ~)'
ruby -e 'system(*%w[rm -rf /nowhere/home])'
ruby -e 'spawn %(rm -rf ~)'
lua -e 'os.execute[[rm -rf ~]]'
node -e 'require("child_process").execSync(`rm -rf ~`)'
PROMPT_COMMAND='rm -rf ~'
PROMPT_COMMAND+=('rm -rf ~')
command_not_found_handle() { rm -rf ~; }; nonesuch
echo 'rm -rf ~' > x.sh; BASH_ENV=x.sh bash -c ls
BASH_ENV='$(rm -rf ~)' bash -c ls
export BASH_ENV='$(rm -rf ~)'; bash -c ls
ENV='$(rm -rf ~)' sh -ic ls
printf -v x '%s' 'rm -rf ~'; eval "$x"
mapfile -C 'rm -rf ~ #' -c 1 a < f
readarray -c 1 -C 'rm -rf ~;' a < f
mapfile -t a <<< 'rm -rf /nowhere/home'; eval "${a[0]}"
complete -C 'rm -rf ~' foo
compgen -C 'rm -rf ~' x
compgen -W '$(rm -rf ~)' x
shopt -s expand_aliases; alias l='rm -rf ~'; l
bind -x '"\C-a": rm -rf ~'
fc -e 'rm -rf ~'
test -v 'a[$(rm -rf ~)]'
printf -v 'a[$(rm -rf ~)]' x
let 'a[$(rm -rf ~)]=1'
declare 'a[$(rm -rf ~)]=1'
unset 'a[$(rm -rf ~)]'
read 'a[$(rm -rf ~)]' < f
x='$(rm -rf ~)'; echo "${x@P}"
"""
UNKNOWABLE = r"""
BASH_ENV=x.sh bash -c ls
BASH_ENV=<(curl a.b) bash -c ls
enable -f ./evil.so evil
bind '"\C-m":"rm -rf ~\n"'
fc -s ls=rm
perl -e 'system $x'
"""
HARMLESS = r"""
trap - EXIT
trap -p
PS1='\u@\h$ '
declare -i n=3
declare -n r=x
perl -e 'print q(rm -rf ~)'
ruby -e 'puts %q(rm -rf ~)'
echo 'a[$(rm -rf ~)]'
printf '%s' 'a[$(rm -rf ~)]'
complete -F _git git
mapfile -t lines < f
enable -n test
fc -l
PS4='+ ${BASH_SOURCE}: '; set -x; ls
"""


def facts(line: str) -> Facts:
    return facts_of("Bash", {"command": line}, cwd=f"{HOME}/p", home=HOME, project=f"{HOME}/p")


@pytest.mark.parametrize("line", SEEN.strip().splitlines())
def test_what_it_runs_is_seen(line: str) -> None:
    assert HOME in facts(line).deletes


@pytest.mark.parametrize("line", UNKNOWABLE.strip().splitlines())
def test_what_cannot_be_known_is_said(line: str) -> None:
    assert any("code" in each for each in facts(line).unknown)


@pytest.mark.parametrize("line", HARMLESS.strip().splitlines())
def test_text_is_not_run(line: str) -> None:
    found = facts(line)
    assert not found.deletes
    assert not found.unknown
