#!/bin/sh
# Runs lint and tests at the same time, both to the end, so that a failure of one does not hide the other's results. The
# last lines are the test counts and the verdict. Arguments: make's name, the interpreter, then pytest's options.
set -u
make=$1 python=$2
shift 2
mkdir -p .make
rm -f .make/out .make/lint.status
{ "$make" --no-print-directory lint >.make/lint.log 2>&1; echo $? >.make/lint.status; } &
lint=$!
# The tests write a hundred thousand small files. Where there is memory for them, that saves a tenth of the time.
free=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')
if [ "${free:-0}" -gt 2000000 ] && files=$(mktemp -d /dev/shm/tests.XXXXXX); then
    trap 'rm -rf "$files"' EXIT
    trap 'exit 130' INT TERM
    cp /bin/true "$files/" && "$files/true" && export TMPDIR="$files"  # unless it is mounted noexec
fi
color=no
[ -t 1 ] && color=yes
# A named pipe, because a plain one would hide pytest's exit status from `sh`.
mkfifo .make/out
tee .make/tests.log <.make/out &
show=$!
"$python" -m pytest --color=$color "$@" >.make/out 2>&1
tests=$?
wait $show $lint
rm -f .make/out
lint=$(cat .make/lint.status)
echo
cat .make/lint.log
tail -n 1 .make/tests.log
[ "$lint" = 0 ] && said=passed || said=failed
[ "$tests" = 0 ] && told=passed || told=failed
echo "lint $said, tests $told"
[ "$said $told" = "passed passed" ]
