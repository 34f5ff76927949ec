"""Files that a call runs are read: what is in them is refused like the same words in the call, and what looks like it
passes. Each class has both sides."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from guard_corpus import HOME, Judge

from anyhook.programs.collect import MAX_SCRIPTS
from anyhook.programs.statements import MAX_FILE_STEPS, MAX_STEPS
from anyhook.rules.calls import facts_of

LOSS = "rm -rf ~/Documents"
FILES = {
    "loss.sh": f"#!/bin/sh\nset -e\n{LOSS}\n",
    "plain.sh": "#!/bin/sh\nrm -rf build dist\nmkdir -p out && cp a.txt out/\n",
    "by-name": f"#!/usr/bin/env bash\n{LOSS}\n",
    "loss.py": "#!/usr/bin/env python3\nimport os, shutil\nshutil.rmtree(os.path.expanduser('~/Documents'))\n",
    "plain.py": "import shutil\nfrom pathlib import Path\nshutil.rmtree('build')\nPath('out').mkdir()\n",
    "loss.js": "require('fs').rmSync(require('os').homedir() + '/Documents', {recursive: true})\n",
    "plain.js": "const cache = new Map(); cache.delete('/'); app.delete('/', gone); /a/.exec('rm -rf /')\n",
    "loss.sql": "begin;\ndrop table users;\ncommit;\n",
    "plain.sql": "create table users (id int);\ninsert into users values (1);\n",
    "schema.sql": "drop table if exists users;\ncreate table users (id int);\n",
    "Makefile": "OUT = build\nall: lib\n\t@echo done\nclean:\n\trm -rf $(OUT)/* $(MISSING)/*\n"
    f"lib: gone\n\tcc -c a.c\ngone:\n\t@{LOSS}\nsafe:\n\tcc -c a.c\n",
    "package.json": f'{{"scripts": {{"build": "rm -rf dist && tsc", "gone": "{LOSS}", "pretest": "sh loss.sh", '
    '"test": "jest"}}',
    "justfile": f"build:\n  rm -rf build\nall: gone\n  echo done\ngone:\n  {LOSS}\n",
    "more.mk": "TOOL = cc\nplain: ; $(TOOL) -c a.c\ninclude l*.mk\n",
    "loss.mk": "LINE = rm -rf\nLINE += ~/Documents\nother: # gone\n\t$(LINE)\n",
    "first.mk": "include loss.mk\nplain:\n\tcc a.c\n",
    "ways.mk": "all: ; cc a.c\nwhen:\nifdef X\n\tcc a.c\nendif\n\trm -rf ~/Documents\n"
    ".PHONY: inner\nifdef X\n  inner: ; rm -rf ~/Documents\nendif\nquoted:\n\t@echo 'rm -rf ~/Documents'\n",
    "prefix.mk": f".RECIPEPREFIX = >\nall:\n>{LOSS}\n",
    "one.mk": "all:\n\tcd ~\n\trm -rf *\n.ONESHELL:\n",
    "apart.mk": "all:\n\tcd ~\n\trm -rf *.o\n",
    "asks.mk": f"X := $(shell {LOSS})\nall:\n\tcc a.c\n",
    "asked.mk": f"all:\n\tcc a.c\nother:\n\techo $(shell {LOSS})\n",
    "name.mk": "DAY != date\nX = $(shell git rev-parse HEAD) $(shell find . -name '*.c')\nall:\n\tcc a.c\n",
    "verbs.sh": f'case "$1" in\n  build) make safe ;;\n  gone) {LOSS} ;;\nesac\n',
    "unknown.sh": 'DIR="$1"\nrm -rf "$DIR"\n$TOOL --flag\neval "$CODE"\nbash -c "$LINE"\nrm -rf "$HOME/$NAME"\n',
    "apart.sh": "set -a; . ./.env; set +a\ncat data.csv | head\ncurl -sSf https://api.example.com/health\n",
    "usage.sh": f"cat <<'E'\n  {LOSS}\nE\necho '{LOSS}'\n# {LOSS}\n",
    "defined.sh": f"reset() {{\n  {LOSS}\n}}\necho nothing\n",
    "outer.sh": "echo start\n./by-name\n",
    "remote.sh": "rm -rf /srv/data\n",
    ".env": "KEY=value\n",
    "line": f"{LOSS.replace('~', HOME)}\n",
    "value": f"a[$({LOSS})]\n",
    "list": "a.txt\nb.txt\n",
    "vars.sh": "D=$HOME/Documents\nB=build\n",
    "lib.sh": f"gone() {{ {LOSS}; }}\nold() {{ rm -rf \"$1\"; rm -rf \"$OTHER\"; }}\nalias tidy='{LOSS}'\n",
    "go.sh": "cd ~\n",
    "away.sh": 'cd "$(dirname "$0")"\n',
    "import.py": "from lib import (\n  gone)\nprint(1)\n",
    "lib.py": "import os\ndef gone(): os.system('rm -rf ~/Documents')\n",
    "conftest.py": "import lib\n",
    "tests/test_a.py": "import shutil\ndef test_a(tmp_path): shutil.rmtree(tmp_path)\n",
    "tests/test_b.py": "import shutil, os\nshutil.rmtree(os.path.expanduser('~/Documents'))\n",
    "plain/conftest.py": "import pytest\n",
    "needs.js": "const {gone} = require('./loss.js')\n",
    "index.js": "import './loss'\n",
    "Taskfile.yml": f"tasks:\n  build: go build\n  gone:\n    cmds: [{LOSS}]\n  all:\n    deps: [gone]\n",
    "composer.json": f'{{"scripts": {{"gone": ["ls", "{LOSS}"], "build": "ls"}}}}',
    "deno.json": f'{{"tasks": {{"gone": "{LOSS}", "build": "ls"}}}}',
    "docker-compose.yml": "services:\n  a:\n    image: alpine\n    volumes: ['/:/host']\n    command: [ls]\n",
    "safe/docker-compose.yml": "services:\n  a:\n    image: alpine\n    volumes: ['./data:/data', '/var/run/x:/x']\n",
    ".envrc": f"{LOSS}\n",
    "loss.go": 'package main\nimport "os"\nfunc main() { os.RemoveAll(os.Getenv("HOME") + "/Documents") }\n',
    "loss.awk": 'BEGIN { system("rm -rf ~/Documents") }\n',
    "loss.sed": f"1e {LOSS}\n",
    "loss.vim": f"!{LOSS}\n",
    "loss.el": f'(shell-command "{LOSS}")\n',
    "loss.exp": f"spawn {LOSS}\n",
    "loss.gdb": f"shell {LOSS}\n",
    "Rakefile": "task default: :build\ntask :build do\n  sh 'cc a.c'\nend\ntask :gone do\n"
    "  sh 'rm -rf ~/Documents'\nend\n"
    "task all: [:gone] do\nend\nnamespace :db do\n  task :wipe => :env do\n"
    "    FileUtils.rm_rf(File.expand_path('~/Documents'))"
    "\n  end\nend\n",
    "noxfile.py": "import nox, os\n@nox.session\ndef plain(session):\n    session.run('ruff')\n"
    "@nox.session(name='gone')\ndef _gone(session):\n    session.run('rm', '-rf', os.path.expanduser('~/Documents'))\n",
    "tasks.py": f"from invoke import task\n@task\ndef gone(c):\n    c.run('{LOSS}')\n@task\ndef build(c):\n"
    f"    c.run('ruff')\n",
    "tox.ini": "[tox]\nenvlist = py\n[testenv]\ncommands = ruff {posargs}\n"
    "[testenv:gone]\ncommands =\n    ls\n    - rm -rf {env:HOME}/Documents\n",
    "build.gradle": "tasks.register('gone', Exec) {\n"
    "  commandLine 'rm', '-rf', \"${System.getProperty('user.home')}/Documents\"\n"
    f"}}\ntask line(type: Exec) {{\n  commandLine 'sh', '-c', '{LOSS}'\n}}\n"
    "task all(dependsOn: 'gone') {\n  dependsOn 'gone'\n}\n"
    "task hello {\n  doLast { println 'rm' }\n}\n",
    "gulpfile.js": f"const {{execSync}} = require('child_process');\nexports.gone = () => {{\n"
    f"  execSync('{LOSS}');\n}}\n"
    "exports.build = () => {\n  execSync('tsc');\n}\n",
    "pyproject.toml": f"[tool.poe.tasks]\ngone = '{LOSS}'\nshell = {{shell = '{LOSS}', help = 'x'}}\n"
    f"all = ['lint', 'gone']\n"
    f"lint = {{cmd = 'ruff check', help = '{LOSS}'}}\n[tool.pdm.scripts]\nclear = '{LOSS}'\n"
    f"[tool.hatch.envs.default.scripts]\nwipe = ['{LOSS}']\n",
    "mise.toml": f"[tasks.gone]\nrun = '{LOSS}'\n[tasks.build]\nrun = 'make safe'\n",
    "Procfile": f"web: node plain.js\ngone: {LOSS}\n",
    "play.yml": f"- hosts: localhost\n  tasks:\n  - name: a\n    shell: {LOSS}\n",
    "file.yml": f"- hosts: all\n  connection: local\n  tasks:\n  - block:\n"
    f"    - file: {{path: {HOME}/Documents, state: absent}}\n",
    "far.yml": f"- hosts: web\n  tasks:\n  - shell: systemctl restart nginx\n  - debug: msg='{LOSS}'\n",
    "setup.py": "import shutil, os\nfrom setuptools import setup\n"
    "shutil.rmtree(os.path.expanduser('~/Documents'))\nsetup()\n",
    "plain/setup.py": "import shutil\nfrom setuptools import setup\nshutil.rmtree('build', ignore_errors=True)\n"
    "setup()\n",
    "given.py": "import shutil, sys\nshutil.rmtree(sys.argv[1])\n",
    "rm.mk": "D = $(HOME)/Documents\nall:\n\t$(RM) -r $(D)\n",
    "uses.sh": "rm -rf \"$D\"\n",
    "second.sh": ". ./vars.sh\nrm -rf $D\n",
    "count": "3\n",
    "hooked/lefthook.yml": f"pre-commit:\n  commands:\n    x:\n      run: {LOSS}\n",
    "hooked/.pre-commit-config.yaml": f"repos:\n- repo: local\n  hooks:\n  - id: x\n    entry: {LOSS}\n",
    "hooked/dvc.yaml": f"stages:\n  a:\n    cmd: {LOSS}\n", "hooked/Vagrantfile": f"system('{LOSS}')\n",
    "hooked/webpack.config.js": f"require('child_process').execSync('{LOSS}')\n",
    "hooked/conf.py": f"import os\nos.system('{LOSS}')\n", "hooked/loss.tcl": "exec rm -rf /home/dev/Documents\n",
    "hooked/build.rs": 'fn main() { std::fs::remove_dir_all("/home/dev/Documents"); }\n',
    "hooked/loss.ps1": "Remove-Item -Recurse -Force ~/Documents\n",
    "loss.c": '#include <stdlib.h>\nint main(void) { return system("rm -rf ~/Documents"); }\n',
    "built": "\0ELF",
    "built.c": 'int main(void) { execl("/bin/rm", "rm", "-rf", "/home/dev/Documents", 0); }\n',
    "plain.c": '#include <stdio.h>\nint main(void) { remove("out.txt"); puts("system(rm -rf ~/Documents)"); }\n',
    "loss.rs": 'fn main() { std::process::Command::new("rm").arg("-rf").arg("/home/dev/Documents").status(); }\n',
    "loss.hs": 'import System.Process\nmain = callCommand "rm -rf ~/Documents"\n',
    "loss.nim": 'import os\nremoveDir("/home/dev/Documents")\n',
    "Loss.java": 'class Loss { void x() { new ProcessBuilder("rm", "-rf", "/home/dev/Documents").start(); } }\n',
    "rust/src/main.rs": 'fn main() { std::fs::remove_dir_all("/home/dev/Documents"); }\n',
    "rust/tests/a.rs": '#[test]\nfn a() { std::fs::remove_dir_all("/home/dev/Documents"); }\n',
    "array.sh": 'x=(1 2)\necho ${x[$(date +%N)]} ${x[`cat count`]}\n',
}  # fmt: skip
RUN = (
    "bash loss.sh", "sh -x loss.sh", "./by-name", "source loss.sh", ". ./loss.sh", "bash < loss.sh",
    "cat loss.sh | bash", "sudo bash loss.sh", "cd .. && bash shop/loss.sh", "env -i timeout 5 ./by-name",
    'bash -c "$(cat loss.sh)"', 'eval "$(cat loss.sh)"', 'eval "$(<loss.sh)"', "cp loss.sh x.sh && bash x.sh",
    "mv loss.sh x.sh; sh x.sh", "cat loss.sh > x.sh; bash x.sh", "bash outer.sh", "chmod +x loss.sh && ./loss.sh",
    "find . -name loss.sh -exec sh {} +", "bash l*.sh", "python3 loss.py", "python3 -u loss.py x", "./loss.py",
    "python3 < loss.py", "python3 -m loss", "uv run loss.py", "node loss.js", "node --max-old-space-size=99 loss.js",
    "node -r ./loss.js plain.js", "deno run -A loss.js", "bun loss.js", "make", "make all", "make -s gone", "just all",
    "make -f more.mk other", "make -f plain.mk -f loss.mk other", "make -f ways.mk when", "make -f ways.mk inner",
    "make -f prefix.mk", "make -f one.mk", "make -f asks.mk", "make -n -f asks.mk", "make -f asked.mk other",
    "make -f first.mk", "just build gone", "npm run-script gone", "npm rum gone", "npm t", "npm run gone",
    "npm test", "yarn gone", "pnpm run gone",
    "bun run gone", "bash verbs.sh gone",
    "fish loss.sh", "ln -s loss.sh y.sh; ./y.sh", "tee y.sh < loss.sh; bash y.sh", "ls lo*.sh | xargs -n1 bash",
    "bash --rcfile loss.sh -i -c ls", "python3 import.py", "python3 -c 'import lib'", "python3 -m import",
    "coverage run loss.py", "python3 -m coverage run loss.py", "python3 -m pdb loss.py",
    "PYTHONSTARTUP=loss.py python3",
    "pytest", "pytest -q plain tests/test_b.py::test_b", "python3 -m pytest tests", "node needs.js", "node loss",
    "node -e \"require('./loss.js')\"", "node .", "task gone", "task all", "composer run gone",
    "composer gone", "deno task gone", "npx npm-run-all build gone", "docker compose up -d", "docker-compose run a",
    "direnv allow", "go run loss.go", "awk -f loss.awk a.txt", "sed -f loss.sed a.txt", "vim -es -S loss.vim",
    "emacs --script loss.el", "expect loss.exp", "gdb -batch -x loss.gdb", "make -f rm.mk",
    "rake gone", "rake all", "rake db:wipe", "bundle exec rake gone", "nox -s gone", "nox", "inv gone", "invoke gone",
    "tox -e gone", "tox run -e py,gone", "gradle gone", "./gradlew :app:gone", "gradle line", "gradle all", "gulp gone",
    "npx gulp gone", "poe gone", "poe shell", "poe all", "uv run poe gone", "pdm run clear", "pdm clear",
    "hatch run wipe", "mise run gone", "foreman start", "honcho start gone", "foreman run gone",
    "ansible-playbook play.yml",
    "ansible-playbook -i hosts file.yml", "pip install .", "pip install -e '.[dev]'", "python3 -m pip install -e .",
    "uv pip install .", "node --run gone", "NODE_OPTIONS='--require ./loss.js' node plain.js",
    "NODE_OPTIONS=--import=./loss.js npm run build", "exec < loss.sh; bash", ". /dev/stdin < loss.sh",
    ". /dev/stdin <<< 'rm -rf ~/Documents'", "python3 given.py ~/Documents", "awk '{system($0)}' loss.sh",
    "awk '{print | \"sh\"}' line", "sed e line", "sed 's/.*/&/e' < line",
    'sqlite3 a.db ".read loss.sql"',
    "psql shop -c '\\i loss.sql'", "mysql shop -e 'source loss.sql'", "docker exec -i db psql shop < loss.sql",
    "cat loss.sql | kubectl exec -i db -- psql shop", "psql shop -f loss.sql", "psql shop < loss.sql",
    "cat loss.sql | psql shop", "mysql shop < loss.sql",
    "sqlite3 shop.db < loss.sql", "ssh host bash -s < remote.sh", "tmux new -d 'sh loss.sh'",
)  # fmt: skip
MADE = (
    "printf 'all:\\n\\trm -rf ~/Documents\\n' > Makefile && make", f"cat > Makefile <<'E'\nall:\n\t{LOSS}\nE\nmake all",
    f"echo 'all: ; {LOSS}' > GNUmakefile; make; echo all: > GNUmakefile",
    f"printf 'x:\\n  {LOSS}\\n' > justfile && just x",
    "mkdir -p b && printf 'all:\\n\\trm -rf ~/Documents\\n' > b/Makefile && make -C b",
    "cp loss.mk Makefile; make other",
    f"echo '{{\"scripts\": {{\"x\": \"{LOSS}\"}}}}' > package.json && npm run x",
    f"echo '{LOSS}' >> plain.sh; bash plain.sh",
    f"printf 'tasks:\\n  x: {LOSS}\\n' > Taskfile.yml; task x", "ln -s loss.sh p; cp p q; mv q r.sh; bash r.sh",
    "echo \"task(:x){sh 'rm -rf ~/Documents'}\" > Rakefile; rake x", f"mkfifo p; bash < p & echo '{LOSS}' > p",
    "echo 'import lib; lib.gone()' > new.py; python3 new.py", "cat lib.py > m.py; python3 -c 'import m'",
    f"echo '{LOSS}' | tee a.mk; printf 'all:\\n\\tsh a.mk' > Makefile; make",
    "echo ls > x.sh; cp loss.sh x.sh; bash x.sh",
    "gcc loss.c && ./a.out", "cc -o build/x loss.c; build/x", "gcc -c loss.c -o loss.o && gcc loss.o -o x && ./x",
    "echo 'int main(){return system(\"rm -rf ~/Documents\");}' | gcc -xc - -o e && ./e", "rustc loss.rs && ./loss",
    "go build -o x loss.go && ./x", "javac Loss.java && java Loss", "java Loss.java", "cd rust && cargo run",
    "cd rust && cargo test", "tcc -run loss.c", "runghc loss.hs", "nim c -r loss.nim", "./built",
)  # fmt: skip
OTHER_WAYS = (
    "cd hooked && lefthook run pre-commit", "cd hooked && pre-commit run -a", "cd hooked && dvc repro",
    "cd hooked && vagrant up", "cd hooked && npx webpack", "cd hooked && sphinx-build . out",
    "cd hooked && cargo build",
    "tclsh hooked/loss.tcl", "pwsh -File hooked/loss.ps1", "ssh localhost 'bash -s' < loss.sh",
    f"bash /dev/fd/3 3<<< '{LOSS}'", f"exec 3<<<'{LOSS}'; . /dev/fd/3", f"exec 3<<<'{LOSS}'; bash <&3",
    f"tee >(bash) <<< '{LOSS}'", f"echo '{LOSS}' > >(bash)", f"yes '{LOSS}' | head -1 | sh", f"echo '{LOSS}' | fish",
    f"fish -C '{LOSS}' -c true", f"x='{LOSS}'; eval \"${{x@E}}\"", f"zsh -c '={LOSS}'", f"echo '{LOSS}' | parallel",
    f"expect -c 'spawn bash; send \"{LOSS}\\r\"; expect eof'", f"gh alias set x '!{LOSS}'",
    f"awk -v c='{LOSS}' 'BEGIN{{system(c)}}'",
    f"awk 'BEGIN{{print \"{LOSS}\" | \"sh\"}}'", "echo x | sed '1s/.*/rm -rf ~\\/Documents/e'",
    f"npm pkg set scripts.x='{LOSS}'",
    f"composer exec -- {LOSS}", f"pm2 start '{LOSS}'", f"pueue add '{LOSS}'", "vim -u loss.vim",
    "RUSTC_WRAPPER=./loss.sh cargo build",
    "npm_config_script_shell=./loss.sh npm test", f"php -r 'eval(\"system(\\\"{LOSS}\\\");\");'",
    f"lua -e \"load(\\\"os.execute('{LOSS}')\\\")()\"",
    "bun -e 'Bun.spawnSync([\"rm\",\"-rf\",\"/home/dev/Documents\"])'",
    "node -e \"require('fs').renameSync('/home/dev/Documents', '/tmp/x')\"",
    f"ruby -e 'Kernel.send(:system, \"{LOSS}\")'",
    "deno eval 'new Deno.Command(\"rm\", {args: [\"-rf\", \"/home/dev/Documents\"]}).outputSync()'",
    f"guile -c '(system \"{LOSS}\")'",
    f"erl -noshell -eval 'os:cmd(\"{LOSS}\"), halt().'", "7z x a.7z -o/home/dev/.ssh -y",
)  # fmt: skip
"""Files that the call itself makes, and programs whose sources it compiles, or whose sources are beside them."""
INTO_VARIABLES = (
    'x=$(cat line); eval "$x"', "x=$(cat line); $x", "$(cat line)", "$(< line)", "`head -1 line`",
    'read x < line; eval "$x"', "read x < line; $x", 'mapfile -t x < line; eval "${x[0]}"',
    'while read x; do eval "$x"; done < line', "cat line | while read x; do $x; done", 'set -- $(cat line); "$@"',
)  # fmt: skip
"""The words of a file are run."""
SOURCED = (
    "D=x; . ./vars.sh; rm -rf $D",
    'source vars.sh && rm -rf "$D"',
    "set -a; . ./vars.sh; set +a; sh -c 'rm -rf $D'",
    ". ./lib.sh; gone",
    "source ./lib.sh; old ~/Documents",
    ". ./lib.sh; tidy",
    ". ./go.sh; rm -rf Documents",
    "D=~/Documents; . ./uses.sh",
    "bash second.sh",
    "BASH_ENV=./loss.sh bash -c ls",
    "(. ./lib.sh; gone)",
)
"""Files that a shell reads into itself: their variables, functions, aliases and folder are its own."""
GIVEN = (
    "x=$(cat value); @", "x=$(<value); @", "read x < value; @", "mapfile -t x < value; @",
    "for x in $(cat value); do @; done",
    "while read x; do @; done < value", "cat value | while read x; do @; done", "export x=$(tail -n1 value); @",
    'printf -v x %s "$(cat value)"; @', "cp value y; read x < y; @", 'f() { x=$1; @; }; f "$(cat value)"',
    'set -- "$(cat value)"; x=$1; @', "x=$(cat value) bash -c '@'", 'bash -c \'x=$1; @\' sh "$(cat value)"',
)  # fmt: skip
COUNTS = ("((x))", "echo $((x))", "[[ $x -gt 0 ]]", "[[ -v $x ]]", "let x", "echo ${y[x]}")
AT_ONCE = (
    "(($(cat value)))", "echo $(( $(cat value) ))", "[[ $(cat value) -gt 3 ]]", 'test -v "$(cat value)"',
    "echo ${y[$(cat value)]}", "y[$(cat value)]=1", 'unset "$(cat value)"', 'let "$(cat value)"',
    "for ((i=$(cat value);i<3;i++)); do :; done", "declare -i y=$(cat value)",
)  # fmt: skip
"""A shell that counts with the value of a variable runs the substitutions in its subscripts."""
PASSES = (
    ". ./vars.sh; rm -rf $B", "D=~/Documents; . ./vars.sh; rm -rf $B", ". ./lib.sh; ls", ". ./lib.sh; old build",
    ". ./away.sh; rm -rf build", ". ./missing.sh; rm -rf build", "B=out; bash vars.sh; rm -rf $B/x",
    "(. ./go.sh); rm -rf build",
    "x=$(cat count); ((x > 3)) && echo $((x + 1))", "read n < count; ((n++))", "while read n; do wc -l $n; done < list",
    "x=$(cat array.sh); ((x))", "((i++))", "[[ -v name ]]", "x=$(date +%s); ((x > 3))",
    "x=$(cat value | wc -l); echo $x",
    "for f in $(cat list); do wc $f; done", "mapfile -t all < list; wc \"${all[@]}\"", "cat value", "cat line > other",
    "cd plain && pytest .", "cd plain && pytest ../tests/test_a.py", "python3 -c 'import json'",
    "python3 -c 'import missing'",
    "rake", "rake build", "rake -T", "nox -s plain", "nox -l", "inv build", "invoke --list", "tox", "tox -e py",
    "tox -e lint", "gradle hello", "gradle build", "gulp build", "poe lint", "poe", "pdm run lint", "hatch build",
    "mise run build", "foreman start web", "foreman check", "ansible-playbook far.yml", "pip install requests",
    "pip install ./plain", "pip install -r requirements.txt", "uv pip install ruff", "pdm run build",
    "node --run build",
    "NODE_OPTIONS=--max-old-space-size=99 node plain.js", "NODE_OPTIONS='-r ./plain.js' node plain.js",
    "exec < plain.sh; bash", "exec 2>&1; bash plain.sh", "python3 given.py build", "awk '{print $0}' line",
    "awk '{system(\"ls \" $1)}' list", "sed s/a/b/ line", "sed -n /e/p line",
    "coverage report", "node -e \"require('fs')\"", "task build", "composer run build", "deno task build",
    "task --list",
    "docker compose ps", "docker compose -f safe/docker-compose.yml up", "go build", "go test ./...",
    "docker run alpine",
    "sed -n 1p loss.sed", "awk 1 loss.awk", "vim loss.vim", "cat loss.gdb", "git diff loss.go",
    "ls lo*.sh | wc -l",
    "printf 'all:\\n\\tcc a.c\\n' > Makefile && make", "echo ls > loss.sh; bash loss.sh", "gcc loss.c",
    "gcc loss.c -o plain",
    "cd hooked && lefthook install", "cd hooked && pre-commit install", "cd hooked && dvc status",
    "cd hooked && cargo fmt",
    "cd hooked && vagrant status", "ssh host 'bash -s' < loss.sh", "cat hooked/loss.ps1", "npx webpack",
    "pre-commit run",
    "tee >(wc -l) < list", "exec 3< list; cat <&3", "cat 3<<< x", "echo a > >(cat)", "echo a | parallel echo",
    "yes | head -3",
    "expect -c 'spawn ssh host; send \"yes\\r\"; expect eof'", "gh pr create --title 'x!' --body 'rm -rf ~'",
    "npm pkg set scripts.clean='rm -rf dist'",
    "awk -v c=rm 'BEGIN{print c}'", "7z x a.7z -obuild", "pm2 start app.js", "fish -C 'set x 1' -c ls",
    "node -e \"require('fs').renameSync('a', 'b')\"",
    "php -r 'echo eval(\"return 1;\");'", "guile -c '(display \"rm -rf ~/Documents\")'",
    "erl -noshell -eval 'io:format(\"rm -rf ~\"), halt().'",
    "gcc plain.c && ./a.out x", "cp plain.sh x.sh && bash x.sh", "cargo build", "cd rust && cargo build",
    "rustc loss.rs",
    "java -jar app.jar", "javac Loss.java", "java Main", "./missing",
    "printf 'rm -rf ~/Documents' > notes.txt; make safe",
    "echo '{}' > package.json; npm run gone", "go vet ./...", "nim c plain.nim", "racket -e '(+ 1 2)'",
    "bash plain.sh", "bash -n loss.sh", "cat loss.sh", "chmod +x loss.sh", "python3 plain.py", "node plain.js",
    "make -f more.mk", "make -f more.mk plain", "make -f ways.mk", "make -f ways.mk quoted", "make -f apart.mk",
    "make -f asked.mk", "make -f name.mk", "npm run", "npm install left-pad",
    "make clean", "make safe", "make -n gone", "just build", "npm run build", "bash verbs.sh build", "bash verbs.sh",
    "psql shop -f plain.sql", "psql shop < schema.sql", "psql -d shop_test -f loss.sql", "bash usage.sh",
    "bash defined.sh", "bash missing.sh", "bash unknown.sh", "bash apart.sh", "git add loss.sh", "vim loss.sh",
    "shellcheck loss.sh", "wc -l loss.sh && grep rm loss.sh", "npm ls gone", "docker run image bash loss.sh",
)  # fmt: skip


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    """Not in memory: what is in `/dev/shm` counts as the system's."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        yield judge_in(Path(folder) / "shop")


def judge_in(project: Path) -> Judge:
    project.mkdir()
    for name, text in FILES.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    return Judge(project=str(project))


def test_what_is_in_a_file_is_refused(judge: Judge) -> None:
    assert [line for line in RUN if judge.verdict("Bash", {"command": line}) != "deny"] == []


def test_what_a_file_puts_into_variables_is_refused(judge: Judge) -> None:
    counted = [given.replace("@", counts) for given in GIVEN for counts in COUNTS]
    lines = [*INTO_VARIABLES, *AT_ONCE, *SOURCED, *MADE, *OTHER_WAYS, *counted]
    assert [line for line in lines if judge.verdict("Bash", {"command": line}) != "deny"] == []


def test_what_looks_like_it_passes(judge: Judge) -> None:
    assert [(line, judge.refusals(line)) for line in PASSES if judge.refusals(line)] == []


def test_a_line_that_python_puts_together_is_read_as_far_as_it_is_known(judge: Judge) -> None:
    stopped = (
        "os.system('rm -rf ' + os.environ['HOME'] + '/Documents')",
        "os.system('rm -rf ' + named())",
        "os.system(f'rm -rf {sys.argv[1]}/src')",
    )
    passing = ("os.system('git log ' + name)", "os.system(f'ls {name}')", "os.system(name + ' -rf')")
    for codes, is_stopped in ((stopped, True), (passing, False)):
        lines = [f'python3 -c "import os, sys; {code}"' for code in codes]
        assert [line for line in lines if bool(judge.refusals(line)) != is_stopped] == []


CODE_RUN = (
    "import subprocess, shlex; subprocess.run(shlex.split('rm -rf /home/dev/Documents'))",
    "import subprocess\nr = lambda c: subprocess.run(c, shell=True)\nr('rm -rf ~/Documents')",
    "import subprocess\nclass A:\n def r(self, *w): subprocess.run(['rm', *w])\nA().r('-rf', '/home/dev/Documents')",
    "import os, shutil\nfor d in ['~/Documents', '~/a']: shutil.rmtree(os.path.expanduser(d))",
    "import os; os.chdir(os.path.expanduser('~')); os.system('rm -rf Documents')",
    "import subprocess; subprocess.run(['rm', '-rf', 'Documents'], cwd=os.path.expanduser('~'))",
    "import subprocess as s; s.run(args='rm -rf ~/Documents', shell=True)",
    "import subprocess\nfor each in [['ls'], ['rm', '-rf', '/home/dev/Documents']]: subprocess.run(each)",
    "import subprocess\nfor each in ['ls', 'rm -rf ~/Documents']: subprocess.run(each, shell=True)",
    "import subprocess\ndef run(line): subprocess.run(line, shell=True)\nrun('rm -rf ~/Documents')",
    "import subprocess\ndef run(*words): subprocess.run(['rm', *words])\nrun('-rf', '/home/dev/Documents')",
    "import subprocess\nwords = ['rm', '-rf']\nwords.append('/home/dev/Documents')\nsubprocess.run(words)",
    "import subprocess\nwords = ['rm', '-rf']\nwords += ['/home/dev/Documents']\nsubprocess.run(words)",
    "import os; os.system('rm -rf {}/Documents'.format(os.environ['HOME']))",
    "import os; os.system('rm -rf %s/Documents' % os.environ['HOME'])",
    "import os, shutil\nfor n in os.listdir('/home/dev'): shutil.rmtree(os.path.join('/home/dev', n))",
    "import os\nfor r, d, fs in os.walk('/home/dev'):\n for f in fs: os.remove(os.path.join(r, f))",
    "import ctypes; ctypes.CDLL(None).system(b'rm -rf ~/Documents')",
    "import asyncio; asyncio.create_subprocess_exec('rm', '-rf', '/home/dev/Documents')",
    "import sh; sh.rm('-rf', '/home/dev/Documents')",
    "import shutil\ndef wipe(path): shutil.rmtree(path)\nwipe(path='/home/dev/Documents')",
    "import git; git.Repo('.').git.push('--force', 'origin')",
    "from git import Repo; Repo('.').remote('origin').push(force=True)",
    "import git; git.Repo('.').remotes.origin.push('+main:main')",
    "from dulwich import porcelain; porcelain.push('.', 'origin', 'main', force=True)",
)
CODE_PASSES = (
    "import shlex; print(shlex.split('rm -rf ~/Documents')); 'a b'.split()",
    "class A:\n def run(self, line): print(line)\nA().run('rm -rf ~/Documents')",
    "import platform; platform.system()",
    "import subprocess; subprocess.run(['git', 'status'], cwd='/home/dev')",
    "def run(line): print(line)\nrun('rm -rf ~/Documents')",
    "def run(line): run(line)\nrun('a')",
    "items = []; items.append('rm -rf ~/Documents'); print('{} %s'.format(1) % 2)",
    "import os\nfor r, d, fs in os.walk('/home/dev'):\n for f in fs: print(os.path.join(r, f))",
    "import os\nfor n in os.listdir('build'): os.remove(os.path.join('build', n))",
    "import git; r = git.Repo('.'); r.git.add('-A'); r.git.commit('-m', 'rm -rf ~'); r.remotes.origin.push()",
    "stack.push('+x', force=True)",
)
NODE_RUN = (
    "const run = (c) => require('child_process').execSync(c); run('rm -rf ~/Documents')",
    "for (const c of ['ls', 'rm -rf ~/Documents']) require('child_process').execSync(c)",
    "const all = ['ls', 'rm -rf ~/Documents']; all.forEach(c => require('child_process').execSync(c))",
    "const words = ['-rf', '/home/dev/Documents']; require('child_process').spawnSync('rm', words)",
    "const {exec: r} = require('child_process'); r('rm -rf ~/Documents')",
    "import {exec as r} from 'node:child_process'; r('rm -rf ~/Documents')",
    "const c = require('child_process'); c.execFileSync('rm', ['-rf', '/home/dev/Documents'])",
    "const run = promisify(require('child_process').exec); await run('rm -rf ~/Documents')",
    "const fs = require('fs'), d = '/home/dev/Documents'; fs.rmSync(d, {recursive: true})",
    "const d = '/home/dev/Documents'; require('child_process').execSync(`rm -rf ${d}`)",
    "const h = os.homedir(); const t = path.join(h, 'Documents'); fs.rmSync(t, {recursive: true})",
    "import files from 'fs/promises'; await files.rm('/home/dev/Documents', {recursive: true})",
    "require('child_process').execSync('rm -rf Documents', {cwd: '/home/dev'})",
    "const git = require('simple-git'); git().push('origin', 'main', ['--force'])",
    "const git = require('isomorphic-git'); await git.push({fs, http, dir: '.', force: true})",
)
NODE_PASSES = (
    "const show = (c) => console.log(c); show('rm -rf ~/Documents')",
    "for (const c of ['rm -rf ~/Documents']) console.log(c)",
    "const s = 'rm -rf ~/Documents'; console.log(s)",
    "const d = 'dist'; require('fs').rmSync(d, {recursive: true})",
    "const {rm: del} = require('fs'); del('dist'); const m = new Map(); m.delete('/')",
    "const r = /a/; r.exec('rm -rf ~/Documents')",
    "const git = require('simple-git'); git().push('origin', 'main')",
    "queue.push({force: true})",
)


@pytest.mark.parametrize(
    ("name", "program", "codes", "is_stopped"),
    [("x.py", "python3", CODE_RUN, True), ("x.py", "python3", CODE_PASSES, False),
     ("x.js", "node", NODE_RUN, True), ("x.js", "node", NODE_PASSES, False)],
)  # fmt: skip
def test_code_is_followed_through_its_names(
    tmp_path: Path, name: str, program: str, codes: tuple[str, ...], is_stopped: bool
) -> None:
    """Through loops, functions of its own, lists that grow, other names of functions, folders that it moves to."""
    judge = Judge(project=str(tmp_path))
    wrong = []
    for code in codes:
        (tmp_path / name).write_text(code)
        if bool(judge.refusals(f"{program} {name}")) != is_stopped:
            wrong.append(code)
    assert wrong == []


def test_a_rule_may_leave_files_out(judge: Judge) -> None:
    other = Judge({"rule": [{"name": "gone", "when": "deletes ~/Documents", "unless": "script"}]}, judge.places.project)
    assert other.refusals(LOSS)
    assert not other.refusals("bash loss.sh")


def test_facts_name_the_file(judge: Judge) -> None:
    project = judge.places.project
    found = facts_of("Bash", {"command": "bash outer.sh"}, cwd=project, home=HOME, project=None)
    [part] = [each for each in found.parts if each.deletes]
    assert part.inside == (f"{project}/outer.sh", f"{project}/by-name")
    assert part.deletes == (f"{HOME}/Documents",)
    assert found.deletes == ()
    assert f"{HOME}/Documents" in found.whole().deletes


def test_reading_files_is_bounded(tmp_path: Path) -> None:
    """In steps and in how many are read, whatever they say; and the call itself is read all the same."""
    doubling = "f0() { true; }\n" + "".join(f"f{n + 1}() {{ f{n}; f{n}; }}\n" for n in range(40))
    (tmp_path / "double.sh").write_text(f"{doubling}f40\n")
    (tmp_path / "itself.sh").write_text("./itself.sh; sh ./itself.sh $RANDOM; bash ./itself.sh a$1\n")
    (tmp_path / "wide.sh").write_text("echo a\n" * 50_000)
    (tmp_path / "pairs.sh").write_text("".join(f"sh part{n}.sh\n" for n in range(2 * MAX_SCRIPTS)))
    for n in range(2 * MAX_SCRIPTS):
        (tmp_path / f"part{n}.sh").write_text("echo a\n")
    (tmp_path / "reads.sh").write_text(". ./reads.sh a$1; . ./double.sh; source ./reads.sh\n")
    runs = (f"bash {name}.sh" for name in ("double", "itself", "wide", "pairs", "reads"))
    for name in (*runs, ". ./reads.sh; f40"):
        found = facts_of("Bash", {"command": f"{name}; {LOSS}"}, cwd=str(tmp_path), home=HOME, project=None)
        assert found.deletes == (f"{HOME}/Documents",), name
        assert found.unread == (), name
        assert len(found.parts) <= MAX_FILE_STEPS, name
    assert MAX_FILE_STEPS < MAX_STEPS


@pytest.mark.parametrize(
    "text", ["\0\1binary", "\ufeff", "'", '"$(', "x=(", "<<E", "case a in", "import (", "a:\n\tb \\"]
)
def test_a_file_that_cannot_be_read_stops_nothing(tmp_path: Path, text: str) -> None:
    for name in ("x.sh", "x.py", "x.js", "Makefile", "package.json", "justfile", "x.sql"):
        (tmp_path / name).write_text(text)
    judge = Judge(project=str(tmp_path))
    for line in (
        "sh x.sh",
        "./x.sh",
        "python3 x.py",
        "node x.js",
        "make",
        "make a",
        "npm test",
        "just",
        "psql -f x.sql",
    ):
        found = facts_of("Bash", {"command": line}, cwd=str(tmp_path), home=HOME, project=None)
        assert not found.unread, line
        assert not judge.refusals(line), line


def test_a_link_or_device_as_a_script_does_not_block(tmp_path: Path) -> None:
    (tmp_path / "zero.sh").symlink_to("/dev/zero")
    (tmp_path / "self.sh").symlink_to("self.sh")
    for line in ("bash zero.sh", "bash self.sh", "bash /dev/stdin", "bash .", "make -f /dev/zero", "python3 /dev/tty"):
        assert facts_of("Bash", {"command": line}, cwd=str(tmp_path), home=HOME, project=None).parts == ()
