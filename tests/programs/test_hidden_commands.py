"""A command is found whatever construct stands around it: every place of a line in which a shell runs something, times
every spelling of what it runs, one and two levels deep."""

from __future__ import annotations

import itertools
import shlex

from anyhook.rules.calls import facts_of
from each_of import each_of

SUBSTITUTIONS = ("$(rm -rf ~)", "`rm -rf ~`", '"$(rm -rf ~)"')
PLACES = r"""
echo @
x=@
x=(@)
x=([@]=1)
x[@]=1
x+=@
echo ${x:-@}
echo ${x-@}
echo ${x:=@}
echo ${x:+@}
: ${x:?@}
echo "${x:-@}"
echo ${x:-${y:-@}}
echo ${PWD#@}
echo ${PWD##@}
echo ${PWD%@}
echo ${PWD%%@}
echo ${PWD/@/x}
echo ${PWD//@/x}
echo ${PWD/x/@}
echo ${PWD:@}
echo ${PWD:0:@}
echo ${PWD^@}
echo ${PWD,,@}
echo "${PWD#@}"
echo ${x[@]}
echo $((1+@))
echo "a $((1+@)) b"
echo $(( x ? @ : 2 ))
echo $[@]
((@))
((x=@+1))
let x=@
for ((i=@;i<0;i++)); do :; done
for ((i=0;i<@;i++)); do :; done
for i in @; do :; done
select i in @; do break; done
case @ in x) :;; esac
case x in @) :;; esac
case x in y|@) :;; esac
[[ x == @ ]]
[[ x =~ @ ]]
[[ ! ( a && -n @ ) ]]
[[ -v x[@] ]]
[ @ ]
unset @
export x=@
typeset z[@]=1
declare -a z=(@)
ls > @
cat < @
cat <<< @
{ :; } > @
((1)) > @
[[ x ]] > @
f() { :; } > @; f
A=@ ls
: && @
! : @
time : @
coproc : @
echo $x@$y
echo a{b,@}c
exec 3> @
return @
trap @ EXIT
"""
LINES = (
    "rm -rf ~",
    "r\\\nm -rf ~",
    "$(echo rm) -rf $HOME",
    "x=rm; $x -rf ~",
    "r``m -rf ~",
    "r$()m -rf ~",
    "{rm,-rf,$HOME}",
)
STATEMENTS = (
    "! {{ {}; }}", "time {{ {}; }}", "time -p {{ {}; }}", "time -- {{ {}; }}", "time ( {} )", "! ( {} )",
    "time ! {{ {}; }}", "! ! {{ {}; }}",
    "time for i in 1; do {}; done", "! if true; then {}; fi", "! while {}; do break; done",
    "time case x in x) {};; esac",
    "coproc {{ {}; }}", "coproc X {{ {}; }}", "coproc ( {} )", "coproc while true; do {}; break; done",
    "if ! {{ {}; }}; then :; fi", "while ! {{ {}; }}; do break; done", "true | ! {{ {}; }}", "true && time {{ {}; }}",
    "f() {{ {}; }} 2>&1; f", "f() {{ {}; }} <<< x; f", "function f {{ {}; }} 2>/dev/null; f", "f() ( {} ) >&2; f",
    "command_not_found_handle() {{ {}; }}; nosuchcmd", "for d in 1; {{ {}; }}", "for ((;;)) {{ {}; break; }}",
    'echo "$(({});:)"', "echo $(({}) )", "(({}); :)", "echo $(time {{ {}; }})", "echo \"$(! {{ {}; }})\"",
    "echo ${{PWD#$({})}}", "echo $((1+$({})))", "case $({}) in x) :;; esac", "cat <({})",
    "if {}; then :; fi", "{{ {}; }} > /dev/null", "! ! ! ! ! ! ! ! ! ! ! ! ! {{ {}; }}",
)  # fmt: skip
CALLS = r"""
time ! rm -rf ~
! ! rm -rf ~
f() { shift; "$@"; }; f x rm -rf ~
f() { shift 2; "$@"; }; f x y rm -rf ~
f() { n=$1; shift; "$@"; }; f 3 rm -rf ~
f() { "${@:1}"; }; f rm -rf ~
f() { "${@:2}"; }; f x rm -rf ~
f() { bash -c "$*"; }; f rm -rf ~
f() { bash -c "${*}"; }; f rm -rf ~
for d in ~; { rm -rf "$d"; }
r$'\0'm -rf ~
r$'\x00'm -rf ~
rm$'\0 no' -rf ~
RM -rf ~
/bin/Rm -rf ~
Sudo BASH -c 'rM -rf ~'
"""
HOLDS = r"""
x='@'
declare x='@'
export x='@'
printf -v x %s '@'
read x <<< '@'
mapfile -t x <<< '@'
for x in '@'; do :; done
x='a[$('; x+='rm -rf ~)]'
: ${x:='@'}
x=('@')
echo '@' > f; read x < f
echo '@' > f; x=$(cat f)
y='@'; x=$y
y='@'; declare -n x=y
"""
COUNTS = r"""
((x))
((1 + x))
echo $((x))
echo $[x]
echo "${PWD:x}"
echo ${PWD:0:x}
y[x]=1
z=(1); echo ${z[x]}
y=([x]=1)
let x
let y=x
declare -i y=x
[[ x -eq 0 ]]
[[ $x -eq 0 ]]
[[ -v $x ]]
test -v "$x"
[ -v "$x" ]
unset "$x"
read "$x" <<< 1
printf -v "$x" 1
echo ${!x}
for ((i=x;i<0;i++)); do :; done
f() { (($1)); }; f "$x"
bash -c '(($1))' _ "$x"
x=$x bash -c '((x))'
"""
"""Where a shell evaluates the text of a variable, and the subscripts in it."""
COUNTED_DIRECTLY = r"""
[[ -v '@' ]]
[ -v '@' ]
[[ '@' -gt 0 ]]
[[ 0 -lt '@' ]]
set -- '@'; (($1))
f() { (($1)); }; f '@'
x='@' bash -c '((x))'
env x='@' bash -c '((x))'
"""
SUBSCRIPTS = ("a[$(rm -rf ~)]", "a[0$(rm -rf ~)]", "a[`rm -rf ~`]", "a[b[0]+$(rm -rf ~)]")
HARMLESS = r"""
x='a[1]'; ((x))
msg='see arr[0], then $(date)'; git commit -m "$msg"
git commit -m 'fix a[$(rm -rf ~)]'
x='a[$('; grep "$x" f
echo 'time { rm -rf ~; }'
echo "time { rm -rf ~; }"
echo '$(rm -rf ~)' '`rm -rf ~`'
echo "\$(rm -rf ~)" "\`rm -rf ~\`"
echo \`rm -rf ~\`
grep 'a`rm -rf ~`b' f
echo hi # $(rm -rf ~)
echo $'$(rm -rf ~)'
time { ls; }
! { ls; }
time ls
if ! grep -q x f; then ls; fi
echo ${PWD#$(echo x)}
echo $((1+$(nproc)))
for i in 1 2; { ls; }
f() { ls "$@"; } 2>&1; f -l
echo $((1 + (2 * 3)))
[[ x =~ (a|b) ]]
ls *.{c,h}
"""


def _finds(line: str) -> bool:
    """Whether the deletion is seen, or a gate asks since a part was not read."""
    facts = facts_of("Bash", {"command": line}, cwd="/p", home="/h", project=None)
    return "/h" in facts.deletes or bool(facts.unread)


@each_of("place, inner", itertools.product(PLACES.strip().splitlines(), SUBSTITUTIONS))
def test_a_substitution_is_run_wherever_it_stands(place: str, inner: str) -> None:
    assert _finds(place.replace("@", inner))


@each_of("around, inner", itertools.product(STATEMENTS, LINES))
def test_a_statement_is_run_whatever_stands_around_it(around: str, inner: str) -> None:
    assert _finds(around.format(inner))


@each_of("outer, inner", itertools.product(STATEMENTS, STATEMENTS))
def test_two_levels_deep(outer: str, inner: str) -> None:
    assert _finds(outer.format(inner.format("rm -rf ~")))


@each_of("outer, place", itertools.product(("bash -c {}", "eval {}", "env sh -c {}"), PLACES.strip().splitlines()))
def test_the_same_in_a_line_inside_a_line(outer: str, place: str) -> None:
    assert _finds(outer.format(shlex.quote(place.replace("@", "$(rm -rf ~)"))))


@each_of("line", CALLS.strip().splitlines())
def test_parameters_and_empty_parts(line: str) -> None:
    assert _finds(line)


@each_of("hold, count", itertools.product(HOLDS.strip().splitlines(), COUNTS.strip().splitlines()))
def test_a_shell_evaluates_what_it_counts(hold: str, count: str) -> None:
    assert _finds(f"{hold.replace('@', SUBSCRIPTS[0])}; {count}")


@each_of("place, inner", itertools.product(COUNTED_DIRECTLY.strip().splitlines(), SUBSCRIPTS))
def test_a_shell_evaluates_a_quoted_subscript(place: str, inner: str) -> None:
    assert _finds(place.replace("@", inner))


@each_of("line", HARMLESS.strip().splitlines())
def test_what_is_only_text_is_not_run(line: str) -> None:
    facts = facts_of("Bash", {"command": line}, cwd="/p", home="/h", project=None)
    assert not facts.deletes
    assert not facts.unread
    assert not any(program.name == "rm" for program in facts.runs)


LONG_PIPES = ("a | b | c", "a |\nb | c -d", "a | b | c 2>/dev/null", "a || b | c # x", "a | b | c <<E\nbody\nE")
REDIRECTED = ("2>/dev/null", "2>/dev/null | head", "> o\nls", "&& ls; x y 2>&1 | c", "'y' 2>&1 | a && ls")


@each_of("pipe, end", itertools.product(LONG_PIPES, REDIRECTED))
def test_a_line_after_a_long_pipe_is_its_own(pipe: str, end: str) -> None:
    """The grammar takes it for arguments of the pipe's last program, if a redirection follows."""
    line = f"{pipe}\n\n# why\nrm -rf ~ {end}"
    assert _finds(line)
    facts = facts_of("Bash", {"command": line}, cwd="/p", home="/h", project=None)
    assert next(each.args for each in facts.runs if each.name == "c") in ((), ("-d",))
