"""Shell lines inside other programs' arguments: every way is read like the line itself, and the harmless neighbours of
each are not."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from anyhook.programs.special import ESCAPES, NO_CODE
from anyhook.rules.calls import facts_of
from each_of import each_of

RUN = r"""
less -X '+!rm -rf ~'
less '++!rm -rf ~' f
less '+:!rm -rf ~' f
less +'!rm -rf ~' f
less '+/x|!rm -rf ~'
less '+|$rm -rf ~' f
more '+!rm -rf ~' f
vim '+!rm -rf ~'
vim '+:!rm -rf ~'
vim '+silent !rm -rf ~' +q
vim '+sil!:!rm -rf ~' +q
vim -c '!rm -rf ~' -c q
vim -c ':!rm -rf ~'
vim -c':!rm -rf ~'
vim --cmd '!rm -rf ~'
vim -c 'exe "!rm -rf ~"'
vim -c 'call system("rm -rf ~")'
vim -es -c '%!rm -rf ~' f
vim -c 'w !rm -rf ~' f
vim -c 'term rm -rf ~'
vim -c 'lua os.execute("rm -rf ~")'
vim -c 'py3 import os; os.system("rm -rf ~")'
nvim --headless +'!rm -rf ~' +q
nvim -es -u NONE '+call system("rm -rf ~")'
vimdiff -c '!rm -rf ~' a b
rvim -c '!rm -rf ~'
ex -c '!rm -rf ~'
view +'!rm -rf ~'
man -P 'rm -rf ~' ls
man '-Prm -rf ~' ls
man --pager='rm -rf ~' ls
man --pager 'rm -rf ~' ls
man -H'rm -rf ~' ls
MANPAGER='rm -rf ~' man ls
PAGER='rm -rf ~' man ls
LESSOPEN='|rm -rf ~ %s' less f
LESSOPEN='||rm -rf ~' less f
LESSCLOSE='rm -rf ~' less f
LESS='+!rm -rf ~' less f
EDITOR='rm -rf ~' git commit
git -c core.pager='rm -rf ~' log
git -c core.editor='rm -rf ~' commit
git -c core.sshCommand='rm -rf ~' fetch
git -c core.fsmonitor='rm -rf ~' status
git -c diff.external='rm -rf ~' diff
git -c pager.log='rm -rf ~' log
git -c alias.x='!rm -rf ~' x
git -c sequence.editor='rm -rf ~' rebase -i
git -c credential.helper='!rm -rf ~' fetch
git grep --open-files-in-pager='rm -rf ~' x
git grep -O'rm -rf ~' x
git difftool -x 'rm -rf ~'
git difftool --extcmd='rm -rf ~'
git fetch --upload-pack='rm -rf ~' x
git ls-remote --upload-pack 'rm -rf ~' x
git push --receive-pack='rm -rf ~' x
git clone -u 'rm -rf ~' x
git clone -c core.sshCommand='rm -rf ~' x
git archive --remote=x --exec='rm -rf ~'
git rebase -x 'rm -rf ~' main
git rebase --exec='rm -rf ~' main
git filter-branch --tree-filter 'rm -rf ~' HEAD
git clone "ext::rm -rf ~" x
GIT_PAGER='rm -rf ~' git log
GIT_SSH_COMMAND='rm -rf ~' git fetch
GIT_EXTERNAL_DIFF='rm -rf ~' git diff
GIT_EDITOR='rm -rf ~' git commit
tar cf /dev/null x --checkpoint=1 --checkpoint-action=exec='rm -rf ~'
tar xf a --to-command='rm -rf ~'
tar xf a -I 'rm -rf ~'
tar xf a --use-compress-program='rm -rf ~'
tar --rsh-command='rm -rf ~' -cf h:x a
tar -F 'rm -rf ~' -cf x a
rsync -e 'rm -rf ~' a b:c
rsync --rsh='rm -rf ~' a b:c
ssh -o ProxyCommand='rm -rf ~' h
ssh -oProxyCommand='rm -rf ~' h
ssh -o 'LocalCommand rm -rf ~' -o PermitLocalCommand=yes h
scp -o ProxyCommand='rm -rf ~' a h:b
scp -S 'rm -rf ~' a h:b
sftp -o ProxyCommand='rm -rf ~' h
zip a b -T -TT 'rm -rf ~ #'
zip a b -T --unzip-command='rm -rf ~ #'
sort --compress-program='rm -rf ~' f
awk 'BEGIN{system("rm -rf ~")}'
awk 'BEGIN{"rm -rf ~" | getline}'
awk 'BEGIN{print 1 | "rm -rf ~"}'
gawk 'BEGIN{system("rm -rf ~")}'
sed '1e rm -rf ~' f
sed -n '1!e rm -rf ~' f
sed 's/x/rm -rf ~/e' f
psql -c '\! rm -rf ~'
psql -c "copy (select 1) to program 'rm -rf ~'"
sqlite3 x '.shell rm -rf ~'
mysql -e '\! rm -rf ~'
gdb -ex '!rm -rf ~' -batch
gdb -ex 'shell rm -rf ~'
gdb --eval-command='shell rm -rf ~'
gdb -ex 'python import os; os.system("rm -rf ~")'
lldb -o 'platform shell rm -rf ~'
ftp <<< '!rm -rf ~'
ed <<< '!rm -rf ~'
emacs --batch --eval '(shell-command "rm -rf ~")'
expect -c 'spawn rm -rf ~'
php -r 'system("rm -rf ~");'
watch 'rm -rf ~'
watch -n1 rm -rf ~
script -c 'rm -rf ~' /dev/null
flock /tmp/l rm -rf ~
flock /tmp/l -c 'rm -rf ~'
xargs -a f rm -rf ~
split --filter='rm -rf ~' f
env -S 'rm -rf ~'
make -f - <<< $'x:\n\trm -rf ~'
make --eval='$(shell rm -rf ~)'
tmux new-session -d 'rm -rf ~'
tmux send-keys 'rm -rf ~' Enter
screen -dm sh -c 'rm -rf ~'
SYSTEMD_PAGER='rm -rf ~' systemctl status
bat --pager='rm -rf ~' f
delta --pager='rm -rf ~'
PROMPT_COMMAND='rm -rf ~' bash -i
socat - EXEC:'rm -rf ~'
socat - 'SYSTEM:rm -rf ~'
nc -e 'rm -rf ~' h 1
ncat -c 'rm -rf ~' h 1
wget --use-askpass='rm -rf ~' u
apt-get -o APT::Update::Pre-Invoke::='rm -rf ~' update
npm exec -c 'rm -rf ~'
npx -c 'rm -rf ~'
docker run -v /:/h alpine rm -rf ~
find . -exec sh -c 'rm -rf ~' \;
fzf --preview 'rm -rf ~'
fzf --bind 'start:execute(rm -rf ~)'
entr rm -rf ~
mutt -e '!rm -rf ~'
dc -e '!rm -rf ~'
nice rm -rf ~
busybox rm -rf ~
unshare rm -rf ~
chroot / rm -rf ~
capsh -- -c 'rm -rf ~'
setarch x86_64 rm -rf ~
stdbuf -o0 rm -rf ~
ionice -c3 rm -rf ~
taskset 1 rm -rf ~
prlimit --nofile=1 rm -rf ~
systemd-run --user rm -rf ~
at now <<< 'rm -rf ~'
perl -e 'system("rm -rf ~")'
ruby -e '`rm -rf ~`'
lua -e 'os.execute("rm -rf ~")'
"""
HARMLESS = r"""
vim -c 'wq!'
vim -c ':w! file'
vim +10 a
vim '+/foo!bar' f
less +G f
less '+/wow!' f
echo '!rm -rf ~' | less
man -P cat ls
tar -I 'zstd -19' -xf a
rsync -az -e 'ssh -p 22' a h:b
sort -u f
nc -zv h 80
git -c pager.log=false log
sed -n '1!p' f
"""


@each_of("line", RUN.strip().splitlines())
def test_a_line_inside_arguments_is_read(line: str) -> None:
    facts = facts_of("Bash", {"command": line}, cwd="/p", home="/h", project=None)
    assert any(program.name == "rm" for program in facts.runs) or "/h" in facts.deletes


@each_of("line", HARMLESS.strip().splitlines())
def test_its_neighbours_run_nothing_else(line: str) -> None:
    facts = facts_of("Bash", {"command": line}, cwd="/p", home="/h", project=None)
    known = {line.split(maxsplit=1)[0], "echo", "less", "cat", "zstd"}
    assert {program.name for program in facts.runs} <= known
    assert not facts.deletes


PIECES = st.sampled_from(
    sorted({word for pattern in ESCAPES.values() for word in re.findall("[A-Za-z-]{2,}", pattern)})
)


@given(st.lists(PIECES | st.text(NO_CODE, max_size=4), max_size=6).map("".join))
def test_a_text_without_signs_holds_no_line(text: str) -> None:
    assert {name: found for name, pattern in ESCAPES.items() if (found := re.search(pattern, text))} == {}
