"""Code beside an approved hook: what is added or changed there does not run unapproved, or it was said at the approval
that the hook runs it too. Every case is tried: the new code would run, were the hook not stopped."""

from __future__ import annotations

import importlib.util
import json
import marshal
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from trust_box import PRE_TOOL, Box

if TYPE_CHECKING:
    from collections.abc import Mapping

EVIL = "LOG = open(r'{log}', 'a'); LOG.write('evil\\n'); LOG.close()\n"
PY = "import json, sys\njson.load(sys.stdin)\nopen(r'{log}', 'a').write('ran\\n')\n"
JS = "require('fs').appendFileSync('{log}', 'ran\\n')\n"
JS_EVIL = "require('fs').appendFileSync('{log}', 'evil\\n')\n"
SH = "echo ran >> '{log}'\n"
SH_EVIL = "echo evil >> '{log}'\n"


RB = "File.write('{log}', \"ran\\n\", mode: 'a')\n"
RB_EVIL = RB.replace("ran", "evil")
PL = "open(my $o, '>>', '{log}'); print $o \"ran\\n\"; close $o;\n"
PL_EVIL = "open(my $o, '>>', '{log}'); print $o \"evil\\n\"; close $o; 1;\n"


def _node_version() -> int:
    node = shutil.which("node")
    done = subprocess.run([node, "--version"], capture_output=True, text=True, check=True) if node else None
    return int(done.stdout.removeprefix("v").partition(".")[0]) if done else 0


NODE_RUNS = _node_version() >= 22
"""Whether this Node runs lines of `package.json` itself."""


class Case(NamedTuple):
    """Files of a project, its hook's command, and what changes after the approval."""

    name: str
    command: str
    files: Mapping[str, str]
    change: Mapping[str, str]
    needs: str = ""
    shadows: bool = True
    """Whether the new code takes effect without the hook's own consent, which the test proves."""


PYTHON_BESIDE = {
    f"{name}{kind}": {f"hooks/{name}{kind}": EVIL}
    for name in ("json", "re", "enum", "types", "codecs", "decimal")
    for kind in (".py", "/__init__.py")
}
HOOK = {"hooks/guard.py": PY.replace("import json", "import json, decimal")}
CASES = [
    *(
        Case(f"python beside: {name}", "python3 hooks/guard.py", HOOK, change, shadows=not name.startswith("codecs"))
        for name, change in PYTHON_BESIDE.items()
    ),
    *(
        Case(f"with a first line: {name}", "./hooks/guard.py", HOOK, change, shadows=not name.startswith("codecs"))
        for name, change in PYTHON_BESIDE.items()
    ),
    Case("python helper", "python3 hooks/g.py", {"hooks/g.py": "import helper\n" + PY, "hooks/helper.py": ""},
         {"hooks/helper.py": EVIL}),
    Case("python helper of a helper", "python3 hooks/g.py",
         {"hooks/g.py": "import a\n" + PY, "hooks/a.py": "from pack import b", "hooks/pack/b.py": ""},
         {"hooks/pack/b.py": EVIL}),
    Case("python relative", "python3 -m hooks.g",
         {"hooks/__init__.py": "", "hooks/g.py": "from . import b\n" + PY, "hooks/b.py": ""}, {"hooks/b.py": EVIL}),
    Case("python package in front of a module", "python3 hooks/g.py",
         {"hooks/g.py": "import helper\n" + PY, "hooks/helper.py": ""}, {"hooks/helper/__init__.py": EVIL}),
    Case("python optional module", "python3 hooks/g.py",
         {"hooks/g.py": "try:\n import not_there\nexcept ImportError: pass\n" + PY}, {"hooks/not_there.py": EVIL}),
    Case("python folder by path", "python3 hooks/g.py",
         {"hooks/g.py": "import sys, os\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'lib'))\n"
          "import helper\n" + PY, "lib/helper.py": ""}, {"lib/helper.py": EVIL}),
    Case("python folder by pathlib", "python3 hooks/g.py",
         {"hooks/g.py": "import sys\nfrom pathlib import Path\n"
          "sys.path.append(str(Path(__file__).parent.parent / 'lib'))\nimport helper\n" + PY, "lib/helper.py": ""},
         {"lib/helper.py": EVIL}),
    Case("python -c, stdlib", "python3 -c 'import json, sys; json.load(sys.stdin)'", {}, {"json.py": EVIL}),
    Case("python -c, helper", "python3 -c 'import helper'", {"helper.py": ""}, {"helper.py": EVIL}),
    Case("python -m", "python3 -m helper", {"helper.py": "import json"}, {"json.py": EVIL}),
    Case("python importlib", "python3 hooks/g.py",
         {"hooks/g.py": "import importlib\nimportlib.import_module('helper')\n" + PY, "hooks/helper.py": ""},
         {"hooks/helper.py": EVIL}),
    Case("python computed import", "python3 hooks/g.py",
         {"hooks/g.py": "import importlib, sys\nimportlib.import_module(''.join(['hel', 'per'][0:2]))\n" + PY,
          "hooks/helper.py": ""}, {"hooks/helper.py": EVIL}),
    Case("python starts a script", "python3 hooks/g.py",
         {"hooks/g.py": "import subprocess\nsubprocess.run(['sh', 'hooks/x.sh'])\n" + PY, "hooks/x.sh": "true\n"},
         {"hooks/x.sh": SH_EVIL}),
    Case("python starts all of a folder", "python3 hooks/g.py",
         {"hooks/g.py": "import subprocess, glob\nfor each in glob.glob('hooks/*.sh'):\n"
          " subprocess.run(['sh', each])\n" + PY,
          "hooks/x.sh": "true\n"}, {"hooks/x.sh": SH_EVIL}),
    Case("python in a here-document", "sh hooks/g.sh",
         {"hooks/g.sh": "python3 - <<'E'\nimport helper\nE\n" + SH, "helper.py": ""}, {"helper.py": EVIL}),
    Case("python unchecked cache", "python3 hooks/g.py", {"hooks/g.py": "import helper\n" + PY, "hooks/helper.py": ""},
         {"hooks/__pycache__/helper.{tag}.pyc": "COMPILED"}, shadows=False),
    Case("usercustomize", "python3 hooks/guard.py", HOOK,
         {"~/.local/lib/{version}/site-packages/usercustomize.py": EVIL}),
    Case("sourced by .", "sh hooks/g.sh", {"hooks/g.sh": ". ./hooks/lib.sh\n" + SH, "hooks/lib.sh": "true\n"},
         {"hooks/lib.sh": SH_EVIL}),
    Case("sourced beside it", "bash hooks/g.sh",
         {"hooks/g.sh": 'D="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"\nsource "$D/lib.sh"\n' + SH,
          "hooks/lib.sh": "true\n"}, {"hooks/lib.sh": SH_EVIL}),
    Case("sourced by dirname $0", "sh hooks/g.sh",
         {"hooks/g.sh": '. "$(dirname "$0")/lib.sh"\n' + SH, "hooks/lib.sh": "true\n"}, {"hooks/lib.sh": SH_EVIL}),
    Case("sourced in turn", "sh hooks/g.sh",
         {"hooks/g.sh": ". hooks/a.sh\n" + SH, "hooks/a.sh": ". hooks/b.sh\n", "hooks/b.sh": "true\n"},
         {"hooks/b.sh": SH_EVIL}),
    Case("started by a script", "sh hooks/g.sh",
         {"hooks/g.sh": "cd hooks && ./x\n" + SH, "hooks/x": "#!/bin/sh\ntrue\n"},
         {"hooks/x": "#!/bin/sh\n" + SH_EVIL}),
    Case("all of a folder, sourced", "sh hooks/g.sh",
         {"hooks/g.sh": "for f in hooks/d/*.sh; do . $f; done\n" + SH, "hooks/d/a.sh": "true\n"},
         {"hooks/d/b.sh": SH_EVIL.replace("echo", "echo")}),
    Case("a program by a variable", "sh hooks/g.sh",
         {"hooks/g.sh": "X=$(cat hooks/name)\nsh $X\n" + SH, "hooks/name": "hooks/x.sh", "hooks/x.sh": "true\n"},
         {"hooks/x.sh": SH_EVIL}),
    Case("eval of a file", "sh hooks/g.sh", {"hooks/g.sh": 'eval "$(cat hooks/x)"\n' + SH, "hooks/x": "true\n"},
         {"hooks/x": SH_EVIL}),
    Case("node require", "node hooks/g.js", {"hooks/g.js": "require('./helper')\n" + JS, "hooks/helper.js": ""},
         {"hooks/helper.js": JS_EVIL}, "node"),
    Case("node require in turn", "node hooks/g.js",
         {"hooks/g.js": "require('./lib')\n" + JS, "hooks/lib/index.js": "require('../b.js')", "hooks/b.js": ""},
         {"hooks/b.js": JS_EVIL}, "node"),
    Case("node file in front of a folder", "node hooks/g.js",
         {"hooks/g.js": "require('./lib')\n" + JS, "hooks/lib/index.js": ""}, {"hooks/lib.js": JS_EVIL}, "node"),
    Case("node import", "node hooks/g.mjs",
         {"hooks/g.mjs": "import './helper.mjs'\nimport fs from 'node:fs'\nfs.appendFileSync('{log}', 'ran\\n')\n",
          "hooks/helper.mjs": ""},
         {"hooks/helper.mjs": "import fs from 'node:fs'\nfs.appendFileSync('{log}', 'evil\\n')\n"}, "node"),
    Case("node dynamic import", "node hooks/g.js",
         {"hooks/g.js": "import('./helper.js')\n" + JS, "hooks/helper.js": ""}, {"hooks/helper.js": JS_EVIL}, "node"),
    Case("node computed require", "node hooks/g.js",
         {"hooks/g.js": "const n = './hel' + 'per'; require(n)\n" + JS, "hooks/helper.js": ""},
         {"hooks/helper.js": JS_EVIL}, "node"),
    Case("node package", "node hooks/g.js",
         {"hooks/g.js": "require('helper')\n" + JS, "node_modules/helper/index.js": ""},
         {"node_modules/helper/index.js": JS_EVIL}, "node"),
    Case("node -r", "node -r ./hooks/first.js hooks/g.js", {"hooks/g.js": JS, "hooks/first.js": ""},
         {"hooks/first.js": JS_EVIL}, "node"),
    Case("node starts a script", "node hooks/g.js",
         {"hooks/g.js": "require('child_process').execSync('sh hooks/x.sh')\n" + JS, "hooks/x.sh": "true\n"},
         {"hooks/x.sh": SH_EVIL}, "node"),
    Case("npm test", "npm test", {"package.json": '{"scripts": {"test": "node t.js"}}', "t.js": JS},
         {"t.js": JS_EVIL}, "npm"),
    Case("npm run, before it", "npm run check",
         {"package.json": '{"scripts": {"precheck": "sh a.sh", "check": "sh b.sh"}}', "a.sh": "true\n", "b.sh": SH},
         {"a.sh": SH_EVIL}, "npm"),
    Case("npm settings", "npm test", {"package.json": '{"scripts": {"test": "sh t.sh"}}', "t.sh": SH},
         {".npmrc": "script-shell=./evil\n", "evil": "#!/bin/sh\n" + SH_EVIL}, "npm"),
    Case("npm runs what is installed", "npm test",
         {"package.json": '{"scripts": {"test": "checker"}}', "node_modules/.bin/checker": "#!/bin/sh\n" + SH},
         {"node_modules/.bin/checker": "#!/bin/sh\n" + SH_EVIL}, "npm"),
    Case("make, included", "make check", {"Makefile": "include more.mk\ncheck:\n\t@" + SH, "more.mk": "X = 1\n"},
         {"more.mk": "X := $(shell " + SH_EVIL.strip() + ")\n"}, "make"),
    Case("make, included in turn", "make check",
         {"Makefile": "include a.mk\ncheck:\n\t@" + SH, "a.mk": "-include b.mk\n", "b.mk": "X = 1\n"},
         {"b.mk": "X := $(shell " + SH_EVIL.strip() + ")\n"}, "make"),
    Case("make runs a script", "make check",
         {"Makefile": "check: before\n\t@" + SH + "before:\n\t@sh x.sh\n", "x.sh": ""},
         {"x.sh": SH_EVIL}, "make"),
    Case("make, behind a condition", "make check",
         {"Makefile": "check:\nifdef X\n\t@true\nendif\n\t@sh x.sh\n", "x.sh": SH}, {"x.sh": SH_EVIL}, "make"),
    Case("make, while it is read", "make check",
         {"Makefile": "X := $(shell sh x.sh)\ncheck:\n\t@" + SH, "x.sh": "echo 1\n"}, {"x.sh": SH_EVIL}, "make"),
    Case("make, two targets by turns", "sh both.sh",
         {"both.sh": "make -s one\nmake -s two\n", "Makefile": "one:\n\t@true\ntwo:\n\t@sh x.sh\n", "x.sh": SH},
         {"x.sh": SH_EVIL}, "make"),
    Case("make of a script", "sh hooks/g.sh", {"hooks/g.sh": "make -s -C sub\n", "sub/Makefile": "all:\n\t@" + SH},
         {"sub/Makefile": "all:\n\t@" + SH_EVIL}, "make"),
    Case("a shell's first file by a variable", "BASH_ENV=./first bash hooks/g.sh",
         {"hooks/g.sh": SH, "first": ". ./second\n", "second": "true\n"}, {"second": SH_EVIL}),
    Case("node's options by a variable", "NODE_OPTIONS='--require ./first.js' node hooks/g.js",
         {"hooks/g.js": JS, "first.js": "require('./second')\n", "second.js": ""}, {"second.js": JS_EVIL}, "node"),
    Case("python's path by a variable", "PYTHONPATH=lib python3 hooks/g.py",
         {"hooks/g.py": "import helper\n" + PY, "lib/helper.py": ""}, {"lib/helper.py": EVIL}),
    Case("ruby -r", "ruby -r ./hooks/first.rb hooks/g.rb",
         {"hooks/g.rb": RB, "hooks/first.rb": ""},
         {"hooks/first.rb": RB_EVIL}, "ruby"),
    Case("ruby require_relative", "ruby hooks/g.rb",
         {"hooks/g.rb": "require_relative 'helper'\n" + RB, "hooks/helper.rb": ""},
         {"hooks/helper.rb": RB_EVIL}, "ruby"),
    Case("perl -I", "perl -Ihooks hooks/g.pl", {"hooks/g.pl": "use Helper;\n", "hooks/Helper.pm": "1;\n"},
         {"hooks/Helper.pm": "system(\"echo evil >> '{log}'\"); 1;\n"}, "perl"),
    Case("perl use lib", "perl hooks/g.pl",
         {"hooks/g.pl": "use FindBin;\nuse lib \"$FindBin::Bin/lib\";\nuse Helper;\n", "hooks/lib/Helper.pm": "1;\n"},
         {"hooks/lib/Helper.pm": "system(\"echo evil >> '{log}'\"); 1;\n"}, "perl"),
    Case("programs on a path of the script's own", "sh hooks/g.sh",
         {"hooks/g.sh": 'PATH="$PWD/tools:$PATH"\nlookat\n' + SH, "tools/lookat": "#!/bin/sh\ntrue\n"},
         {"tools/lookat": "#!/bin/sh\n" + SH_EVIL}),
    Case("a new program on a path of the script's own", "sh hooks/g.sh",
         {"hooks/g.sh": 'export PATH="$(dirname "$0")/../tools:$PATH"\ngrep -q x /dev/null || true\n' + SH,
          "tools/other": ""}, {"tools/grep": "#!/bin/sh\n" + SH_EVIL}),
    Case("a path before one program", "PATH=tools:$PATH lookat", {"tools/lookat": "#!/bin/sh\n" + SH},
         {"tools/lookat": "#!/bin/sh\n" + SH_EVIL}),
    Case("a path by env", "env PATH=tools:/usr/bin:/bin lookat", {"tools/lookat": "#!/bin/sh\n" + SH},
         {"tools/lookat": "#!/bin/sh\n" + SH_EVIL}),
    Case("a path in a sourced file", "sh hooks/g.sh",
         {"hooks/g.sh": ". hooks/env.sh\nlookat\n" + SH, "hooks/env.sh": "PATH=$PWD/tools:$PATH\n",
          "tools/lookat": "#!/bin/sh\ntrue\n"}, {"tools/lookat": "#!/bin/sh\n" + SH_EVIL}),
    Case("a path for what a script starts", "sh hooks/g.sh",
         {"hooks/g.sh": "export PATH=$PWD/tools:$PATH\nsh hooks/b.sh\n" + SH, "hooks/b.sh": "lookat\n",
          "tools/lookat": "#!/bin/sh\ntrue\n"}, {"tools/lookat": "#!/bin/sh\n" + SH_EVIL}),
    Case("a path in a branch", "sh hooks/g.sh",
         {"hooks/g.sh": "if true; then PATH=$PWD/tools:$PATH; fi\nf() { lookat; }\nf\n" + SH,
          "tools/lookat": "#!/bin/sh\ntrue\n"}, {"tools/lookat": "#!/bin/sh\n" + SH_EVIL}),
    Case("a path from a command", "sh hooks/g.sh",
         {"hooks/g.sh": 'PATH="$(cat hooks/where):$PATH"\nlookat\n' + SH, "hooks/where": "tools",
          "tools/lookat": "#!/bin/sh\ntrue\n"}, {"tools/lookat": "#!/bin/sh\n" + SH_EVIL}),
    Case("python's own path for programs", "python3 hooks/g.py",
         {"hooks/g.py": "import os, subprocess\nos.environ['PATH'] = 'tools:' + os.environ['PATH']\n"
          "subprocess.run(['lookat'])\n" + PY, "tools/lookat": "#!/bin/sh\ntrue\n"},
         {"tools/lookat": "#!/bin/sh\n" + SH_EVIL}),
    Case("python's own path, computed", "python3 hooks/g.py",
         {"hooks/g.py": "import os, subprocess\n"
          "subprocess.run(['lookat'], env={**os.environ, 'PATH': open('hooks/where').read()})\n" + PY,
          "hooks/where": "tools:/bin", "tools/lookat": "#!/bin/sh\ntrue\n"}, {"tools/lookat": "#!/bin/sh\n" + SH_EVIL}),
    Case("python's path by an export", "sh hooks/g.sh",
         {"hooks/g.sh": "export PYTHONPATH=lib\npython3 hooks/g.py\n", "hooks/g.py": "import helper\n" + PY,
          "lib/helper.py": ""}, {"lib/helper.py": EVIL}),
    Case("python's path comes before the standard library", "PYTHONPATH=lib python3 hooks/g.py",
         {"hooks/g.py": PY, "lib/helper.py": ""}, {"lib/json.py": EVIL}),
    Case("python's path comes before what that imports", "PYTHONPATH=lib python3 hooks/g.py",
         {"hooks/g.py": "import argparse\n" + PY, "lib/helper.py": ""}, {"lib/gettext.py": EVIL}),
    Case("node's path by an export", "sh hooks/g.sh",
         {"hooks/g.sh": "export NODE_PATH=$PWD/lib\nnode hooks/g.js\n", "hooks/g.js": "require('helper')\n" + JS,
          "lib/helper.js": ""}, {"lib/helper.js": JS_EVIL}, "node"),
    Case("node's path", "NODE_PATH=lib node hooks/g.js",
         {"hooks/g.js": "require('helper')\n" + JS, "lib/helper/index.js": ""}, {"lib/helper/index.js": JS_EVIL},
         "node"),
    Case("a package before node's path", "NODE_PATH=lib node hooks/g.js",
         {"hooks/g.js": "require('helper')\n" + JS, "lib/helper.js": ""},
         {"node_modules/helper/index.js": JS_EVIL}, "node"),
    Case("node folder with main", "node hooks/g.js",
         {"hooks/g.js": "require('./lib')\n" + JS, "hooks/lib/package.json": '{"main": "src/start"}',
          "hooks/lib/src/start.js": ""}, {"hooks/lib/src/start.js": JS_EVIL}, "node"),
    Case("node folder, another main", "node hooks/g.js",
         {"hooks/g.js": "require('./lib')\n" + JS, "hooks/lib/package.json": '{"main": "a.js"}',
          "hooks/lib/a.js": "", "hooks/lib/b.js": JS_EVIL}, {"hooks/lib/package.json": '{"main": "b.js"}'}, "node"),
    Case("node folder, a main in front of the index", "node hooks/g.js",
         {"hooks/g.js": "require('./lib')\n" + JS, "hooks/lib/index.js": "", "hooks/lib/b.js": JS_EVIL},
         {"hooks/lib/package.json": '{"main": "b.js"}'}, "node"),
    Case("node starts a folder", "node hooks/lib",
         {"hooks/lib/package.json": '{"main": "a.js"}', "hooks/lib/a.js": JS}, {"hooks/lib/a.js": JS_EVIL}, "node"),
    Case("node starts without an ending", "node hooks/g", {"hooks/g.js": JS}, {"hooks/g.js": JS_EVIL}, "node"),
    Case("node path.join", "node hooks/g.js",
         {"hooks/g.js": "const path = require('path'); require(path.join(__dirname, 'lib', 'a'))\n" + JS,
          "hooks/lib/a.js": ""}, {"hooks/lib/a.js": JS_EVIL}, "node"),
    Case("node __dirname", "node hooks/g.js",
         {"hooks/g.js": "require(__dirname + '/a.js'); require(`${__dirname}/b`)\n" + JS,
          "hooks/a.js": "", "hooks/b.js": ""}, {"hooks/b.js": JS_EVIL}, "node"),
    Case("node imports of package.json", "node hooks/g.js",
         {"hooks/g.js": "require('#a')\n" + JS, "package.json": '{"imports": {"#a": "./lib/a.js"}}', "lib/a.js": ""},
         {"lib/a.js": JS_EVIL}, "node"),
    Case("node requires its own package", "node hooks/g.js",
         {"hooks/g.js": "require('mine/a')\n" + JS, "lib/a.js": "",
          "package.json": '{"name": "mine", "exports": {"./a": {"default": "./lib/a.js"}}}'},
         {"lib/a.js": JS_EVIL}, "node"),
    Case("node exports of its own package", "node hooks/g.js",
         {"hooks/g.js": "require('mine')\n" + JS, "lib/a.js": "", "lib/b.js": JS_EVIL,
          "package.json": '{"name": "mine", "exports": "./lib/a.js"}'},
         {"package.json": '{"name": "mine", "exports": "./lib/b.js"}'}, "node"),
    Case("node worker", "node hooks/g.js",
         {"hooks/g.js": "new (require('worker_threads').Worker)('./hooks/w.js')\n" + JS, "hooks/w.js": ""},
         {"hooks/w.js": JS_EVIL}, "node"),
    Case("node fork", "node hooks/g.js",
         {"hooks/g.js": "require('child_process').fork('./hooks/w.js')\n" + JS, "hooks/w.js": ""},
         {"hooks/w.js": JS_EVIL}, "node"),
    Case("node eval of a file", "node hooks/g.js",
         {"hooks/g.js": "eval(require('fs').readFileSync('hooks/x', 'utf8'))\n" + JS, "hooks/x": ""},
         {"hooks/x": JS_EVIL}, "node"),
    Case("node vm of a file", "node hooks/g.js",
         {"hooks/g.js": "const t = require('fs').readFileSync('hooks/x', 'utf8')\n"
          "require('vm').runInThisContext('(function(require){' + t + '})')(require)\n" + JS, "hooks/x": ""},
         {"hooks/x": JS_EVIL}, "node"),
    Case("node import of a type script", "node hooks/g.mjs",
         {"hooks/g.mjs": "const m = await import('./a.mjs')\nimport fs from 'fs'\nfs.appendFileSync('{log}', 'ran')\n",
          "hooks/a.mjs": ""},
         {"hooks/a.mjs": "import fs from 'fs'\nfs.appendFileSync('{log}', 'evil')\n"}, "node"),
    Case("npm test, another line", "npm test", {"package.json": '{"scripts": {"test": "node t.js"}}', "t.js": JS},
         {"package.json": '{"scripts": {"test": "node evil.js"}}', "evil.js": JS_EVIL}, "npm"),
    Case("npm test, a line before it", "npm test", {"package.json": '{"scripts": {"test": "node t.js"}}', "t.js": JS},
         {"package.json": '{"scripts": {"test": "node t.js", "pretest": "node evil.js"}}', "evil.js": JS_EVIL}, "npm"),
    Case("npm test, a program that shadows", "npm test",
         {"package.json": '{"scripts": {"test": "env true; node t.js"}}', "t.js": JS},
         {"node_modules/.bin/env": "#!/bin/sh\n" + SH_EVIL}, "npm"),
    Case("npm test, a shell that shadows", "npm test",
         {"package.json": '{"scripts": {"test": "node t.js"}}', "t.js": JS},
         {"node_modules/.bin/sh": "#!/bin/bash\n" + SH_EVIL}, "npm"),
    Case("npm test, a program that shadows in its script", "npm test",
         {"package.json": '{"scripts": {"test": "sh t.sh"}}', "t.sh": "env true\n" + SH},
         {"node_modules/.bin/env": "#!/bin/sh\n" + SH_EVIL}, "npm"),
    Case("node --run", "node --run lint", {"package.json": '{"scripts": {"lint": "sh l.sh"}}', "l.sh": SH},
         {"package.json": '{"scripts": {"lint": "sh evil.sh"}}', "evil.sh": SH_EVIL}, "node", shadows=NODE_RUNS),
    Case("npm run in a script", "sh hooks/g.sh",
         {"hooks/g.sh": "npm run -s lint\n", "package.json": '{"scripts": {"lint": "sh l.sh"}}', "l.sh": SH},
         {"package.json": '{"scripts": {"lint": "sh evil.sh"}}', "evil.sh": SH_EVIL}, "npm"),
    Case("ruby load", "ruby hooks/g.rb",
         {"hooks/g.rb": "load './hooks/x.rb'\n" + RB, "hooks/x.rb": ""},
         {"hooks/x.rb": RB_EVIL}, "ruby"),
    Case("ruby require by __dir__", "ruby hooks/g.rb",
         {"hooks/g.rb": "require File.join(__dir__, 'lib', 'x')\nrequire \"#{__dir__}/y\"\n" + RB,
          "hooks/lib/x.rb": "", "hooks/y.rb": ""},
         {"hooks/y.rb": RB_EVIL}, "ruby"),
    Case("ruby load path", "ruby hooks/g.rb",
         {"hooks/g.rb": "$LOAD_PATH.unshift File.expand_path('lib', __dir__)\nrequire 'x'\n" + RB,
          "hooks/lib/x.rb": ""}, {"hooks/lib/x.rb": RB_EVIL}, "ruby"),
    Case("ruby load path, the standard library", "ruby -Ilib hooks/g.rb",
         {"hooks/g.rb": "require 'json'\n" + RB, "lib/x.rb": ""},
         {"lib/json.rb": RB_EVIL}, "ruby"),
    Case("ruby load path, what the standard library loads", "ruby -Ilib hooks/g.rb",
         {"hooks/g.rb": "require 'json'\n" + RB, "lib/x.rb": ""},
         {"lib/ostruct.rb": RB_EVIL}, "ruby"),
    Case("ruby -I and -r", "ruby -Ilib -rfirst hooks/g.rb",
         {"hooks/g.rb": RB, "lib/first.rb": ""},
         {"lib/first.rb": RB_EVIL}, "ruby"),
    Case("ruby's path", "RUBYLIB=lib ruby hooks/g.rb",
         {"hooks/g.rb": "require 'x'\n" + RB, "lib/x.rb": ""},
         {"lib/x.rb": RB_EVIL}, "ruby"),
    Case("ruby computed require", "ruby hooks/g.rb",
         {"hooks/g.rb": "Dir['./hooks/lib/*.rb'].each { |f| require f }\n" + RB,
          "hooks/lib/x.rb": ""}, {"hooks/lib/y.rb": RB_EVIL}, "ruby"),
    Case("ruby autoload", "ruby hooks/g.rb",
         {"hooks/g.rb": "autoload :X, './hooks/x.rb'\nX\n" + RB, "hooks/x.rb": "X = 1\n"},
         {"hooks/x.rb": RB_EVIL}, "ruby"),
    Case("ruby instance_eval of a file", "ruby hooks/g.rb",
         {"hooks/g.rb": "eval File.read('hooks/x')\n" + RB, "hooks/x": ""},
         {"hooks/x": RB_EVIL}, "ruby"),
    Case("perl require", "perl hooks/g.pl",
         {"hooks/g.pl": "require './hooks/x.pl';\n" + PL, "hooks/x.pl": "1;\n"},
         {"hooks/x.pl": PL_EVIL}, "perl"),
    Case("perl's path", "PERL5LIB=lib perl hooks/g.pl", {"hooks/g.pl": "use Helper;\n" + PL, "lib/Helper.pm": "1;\n"},
         {"lib/Helper.pm": PL_EVIL}, "perl"),
    Case("perl -I, the standard library", "perl -Ilib hooks/g.pl",
         {"hooks/g.pl": "use strict;\n" + PL, "lib/Helper.pm": "1;\n"}, {"lib/strict.pm": PL_EVIL}, "perl"),
    Case("perl -I, what the standard library loads", "perl -I lib hooks/g.pl",
         {"hooks/g.pl": "use File::Temp;\n" + PL, "lib/Helper.pm": "1;\n"}, {"lib/Carp.pm": PL_EVIL}, "perl"),
    Case("perl -M", "perl -Ilib -MHelper hooks/g.pl", {"hooks/g.pl": PL, "lib/Helper.pm": "1;\n"},
         {"lib/Helper.pm": PL_EVIL}, "perl"),
    Case("perl -M of code on the line", "perl -Ilib -MHelper -e '1'", {"lib/Helper.pm": "1;\n"},
         {"lib/Helper.pm": PL_EVIL}, "perl"),
    Case("perl use lib qw", "perl hooks/g.pl",
         {"hooks/g.pl": "use lib qw(hooks/lib more);\nuse A::Helper qw(x);\n" + PL,
          "hooks/lib/A/Helper.pm": "sub import{} 1;\n"},
         {"hooks/lib/A/Helper.pm": PL_EVIL}, "perl"),
    Case("perl use parent", "perl -Ilib hooks/g.pl",
         {"hooks/g.pl": "use parent 'Helper';\n" + PL, "lib/Helper.pm": "package Helper; 1;\n"},
         {"lib/Helper.pm": PL_EVIL}, "perl"),
    Case("perl push @INC", "perl hooks/g.pl",
         {"hooks/g.pl": "BEGIN { unshift @INC, './lib'; }\nuse Helper;\n" + PL, "lib/Helper.pm": "1;\n"},
         {"lib/Helper.pm": PL_EVIL}, "perl"),
    Case("perl require of a variable", "perl hooks/g.pl",
         {"hooks/g.pl": "my $f = './hooks/x.pl'; require $f;\n" + PL, "hooks/x.pl": "1;\n"},
         {"hooks/x.pl": PL_EVIL}, "perl"),
    Case("perl do of what is beside it", "perl hooks/g.pl",
         {"hooks/g.pl": "use FindBin; do \"$FindBin::Bin/x.pl\";\n" + PL, "hooks/x.pl": "1;\n"},
         {"hooks/x.pl": PL_EVIL}, "perl"),
    Case("perl module that uses another", "perl -Ilib hooks/g.pl",
         {"hooks/g.pl": "use A;\n" + PL, "lib/A.pm": "package A; use B2; 1;\n", "lib/B2.pm": "1;\n"},
         {"lib/B2.pm": PL_EVIL}, "perl"),
    Case("perl starts a script", "perl hooks/g.pl",
         {"hooks/g.pl": "system('sh', 'hooks/x.sh');\n" + PL, "hooks/x.sh": "true\n"}, {"hooks/x.sh": SH_EVIL}, "perl"),
    Case("perl starts what a variable names", "perl hooks/g.pl",
         {"hooks/g.pl": "my $x = 'hooks/x.sh'; system($x);\n" + PL, "hooks/x.sh": "#!/bin/sh\ntrue\n"},
         {"hooks/x.sh": "#!/bin/sh\n" + SH_EVIL}, "perl"),
    Case("perl do", "perl hooks/g.pl", {"hooks/g.pl": "do './hooks/x.pl';\n", "hooks/x.pl": "1;\n"},
         {"hooks/x.pl": "system(\"echo evil >> '{log}'\"); 1;\n"}, "perl"),
]  # fmt: skip


def write(box: Box, files: Mapping[str, str]) -> None:
    """Write files of the project, or of the home (`~/`). Hooks with a first line have one."""
    version = ".".join(map(str, sys.version_info[:2]))
    for name, raw in files.items():
        path = name.replace("{version}", f"python{version}").removeprefix("~/")
        text = raw.replace("{log}", str(box.log))
        if name == "hooks/guard.py":
            text = f"#!/usr/bin/env python3\n{text}"
        if raw == "COMPILED":
            compiled(box.project / path.replace("{tag}", str(sys.implementation.cache_tag)), box)
        else:
            box.write(path, text, 0o755, box.home if name.startswith("~/") else None)


def compiled(path: Path, box: Box) -> None:
    """A compiled file that Python does not compare with its source."""
    code = marshal.dumps(compile(EVIL.replace("{log}", str(box.log)), "x", "exec"))
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8) + code)


@pytest.fixture
def box(tmp_path: Path) -> Box:
    made = Box(tmp_path.resolve())
    made.env["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return made


def without_environment(box: Box) -> None:
    """The same interpreter as ours outside its virtual environment, so that the user's packages count."""
    folder = box.root / "bin"
    folder.mkdir()
    (folder / "python3").symlink_to(os.path.realpath(sys.executable))
    box.env["PATH"] = f"{folder}:{os.environ['PATH']}"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_code_beside_an_approved_hook_does_not_run_unapproved_or_was_announced(box: Box, case: Case) -> None:
    if case.needs and shutil.which(case.needs) is None:
        pytest.skip(f"needs {case.needs}")
    if case.name == "usercustomize":
        without_environment(box)
    write(box, case.files)
    box.kodik(case.command)
    told = box.run("trust", "--yes").stdout.decode()
    assert box.fire() == ["ran"]
    assert "evil" not in box.logged()
    write(box, case.change)
    before = box.json("fire", *PRE_TOOL[1:], "--trust", "all", status=None)  # the proof: it would have run
    assert case.shadows is ("evil" in box.logged()), before
    box.log.unlink(missing_ok=True)
    announced = "that is not pinned" in told
    statuses = box.fire()
    if announced and statuses == ["ran"]:
        gate = box.json("status", "--json", status=None)["gates"][0]
        assert "not pinned" in gate["why"], "the status says it too"
        assert "not pinned" in box.run("status", status=None).stdout.decode()
        return
    assert statuses == ["untrusted"], told
    assert "evil" not in box.logged()
    assert box.json("status", "--json", status=1)["gates"][0]["state"] == "changed"


ANNOUNCED = {
    "python computed import", "a program by a variable", "eval of a file",
    "node computed require", "node package", "node's options by a variable", "npm runs what is installed",
    "a path from a command", "python's own path, computed", "node eval of a file", "node vm of a file",
    "ruby computed require", "ruby instance_eval of a file", "perl require of a variable",
    "perl starts what a variable names",
}  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_only_what_cannot_be_known_is_announced(box: Box, case: Case) -> None:
    if case.needs and shutil.which(case.needs) is None:
        pytest.skip(f"needs {case.needs}")
    write(box, case.files)
    box.kodik(case.command)
    told = box.run("trust", status=1).stdout.decode()
    assert ("that is not pinned" in told) is (case.name in ANNOUNCED), told


def test_a_file_that_has_nothing_to_do_with_a_hook_changes_nothing(box: Box) -> None:
    write(box, {"hooks/guard.py": PY, "hooks/other.py": "", "README.md": "", "src/app.py": "import json\n"})
    write(box, {"package.json": '{"name": "x"}', "hooks/g.js": JS})
    box.kodik("python3 hooks/guard.py", "node hooks/g.js")
    box.run("trust", "--yes")
    write(
        box, {"hooks/other.py": "print(1)\n", "hooks/new.py": "", "src/app.py": "", "src/json.py": "", "json.txt": ""}
    )
    write(box, {"package.json": '{"name": "x", "version": "2", "scripts": {"test": "true"}}'})
    assert box.listed() == ["armed", "armed"]
    write(box, {"hooks/test/__init__.py": "", "hooks/test/test_guard.py": ""})
    assert box.listed() == ["armed", "armed"], "no module imports `test` unasked"
    write(box, {"package.json": '{"name": "x", "type": "module"}'})
    assert box.listed() == ["armed", "changed"], "Node reads the script in another way now"


INNOCENT = [
    ("npm test", {"package.json": '{"version": "1", "dependencies": {"a": "1"}, "scripts": {"test": "node t.js"}}',
                  "t.js": JS},
     {"package.json": '{"scripts": {"build": "x", "test": "node t.js"}, "version": "2", "dependencies": {"a": "2"}}'}),
    ("npm run -s lint", {"package.json": '{"scripts": {"lint": "sh l.sh"}}', "l.sh": SH},
     {"package.json": '{"type": "module", "scripts": {"lint": "sh l.sh", "test": "x"}}', "l2.sh": ""}),
    ("node hooks/lib", {"hooks/lib/package.json": '{"main": "a.js"}', "hooks/lib/a.js": JS},
     {"hooks/lib/package.json": '{"main": "a.js", "version": "3"}', "hooks/lib/b.js": ""}),
    ("perl -Ilib hooks/g.pl", {"hooks/g.pl": "use A;\n" + PL, "lib/A.pm": "1;\n"},
     {"lib/Mine.pm": "1;\n", "lib/A/Mine.pm": "1;\n"}),
    ("ruby -Ilib hooks/g.rb", {"hooks/g.rb": "require 'a'\n" + RB, "lib/a.rb": ""}, {"lib/mine.rb": ""}),
    ("PATH=$PWD/tools:$PATH lookat", {"tools/lookat": "#!/bin/sh\n" + SH}, {"tools/other": "#!/bin/sh\n"}),
    ("NODE_PATH=lib node hooks/g.js", {"hooks/g.js": "require('a')\n" + JS, "lib/a.js": ""}, {"lib/b.js": ""}),
]  # fmt: skip


@pytest.mark.parametrize(("command", "files", "change"), INNOCENT, ids=lambda given: str(given)[:20])
def test_an_innocent_change_needs_no_new_approval(
    box: Box, command: str, files: Mapping[str, str], change: Mapping[str, str]
) -> None:
    needed = next((word for word in command.split() if word in ("node", "npm", "perl", "ruby")), "sh")
    if shutil.which(needed) is None:
        pytest.skip(f"needs {needed}")
    write(box, files)
    box.kodik(command)
    box.run("trust", "--yes")
    assert box.fire() == ["ran"]
    write(box, change)
    assert box.fire() == ["ran"]
    assert box.listed() == ["armed"]


ORDINARY = """#!/bin/bash
set -euo pipefail
input=$(cat)
cmd=$(jq -r '.tool_input.command // empty' <<<"$input")
first=$(echo "$cmd" | awk '{print $1}' | sed -e 's/a b/c/' | tr -d x)
perl -pe 's/x/y/' <<<"$first" >/dev/null; perl -i.bak -ne 'print' /dev/null; ruby -ne 'puts 1' </dev/null || true
python3 -c 'import json,sys; print(1)' >/dev/null
git -C "$PWD" status --short >/dev/null 2>&1 || true
case "$cmd" in *'rm -rf'*) echo no >&2; exit 2 ;; esac
lint() { grep -q "$1" <<<"$cmd"; }
if lint foo; then exit 2; fi
"""


def test_an_ordinary_guard_is_pinned_alone_and_fully_known(box: Box) -> None:
    box.write("hooks/g.sh", ORDINARY, 0o755)
    box.kodik("hooks/g.sh")
    item = box.json("trust", "--json", status=1)["items"][0]
    assert item["unpinned"] == []
    files = {path.removeprefix(f"{box.project}/") for path in item["files"] if path.startswith(str(box.project))}
    assert files == {"hooks/g.sh", ""}, "and no module in the project is imported instead of an installed one"


def test_the_review_shows_what_is_pinned_and_json_has_it(box: Box) -> None:
    write(box, {"hooks/g.py": "import helper\n" + PY, "hooks/helper.py": "X = 1\n"})
    box.kodik("python3 hooks/g.py")
    shown = box.run("trust", status=1).stdout.decode()
    assert f"file     {box.project}/hooks/helper.py" in shown
    assert "X = 1" in shown
    items = box.json("trust", "--json", status=1)["items"]
    assert f"{box.project}/hooks/helper.py" in items[0]["files"]
    assert items[0]["unpinned"] == []


def test_a_long_lived_engine_does_not_run_what_changed(box: Box) -> None:
    write(box, {"hooks/g.py": "import helper\n" + PY, "hooks/helper.py": ""})
    box.kodik("python3 hooks/g.py")
    box.run("trust", "--yes")
    code = """
import os, sys
from anyhook import Engine, Event
engine = Engine.open(project=sys.argv[1])
def fire():
    return [hook.status for hook in engine.fire_sync(Event.pre_tool("Bash", {"command": "ls"})).hooks]
print(fire())
open(sys.argv[1] + "/hooks/unrelated.py", "w").close()
print(fire())
open(sys.argv[1] + "/hooks/helper.py", "w").write(sys.argv[2])
print(fire())
"""
    argv = [sys.executable, "-c", code, str(box.project), EVIL.replace("{log}", str(box.log))]
    done = subprocess.run(argv, env=box.env, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split("\n")[:3] == ["['ran']", "['ran']", "['untrusted']"], done
    assert "evil" not in box.logged()


@pytest.mark.parametrize("name", ["json.py", "json/__init__.py", "helper.py", "enum.py", "re.so", "helper/__init__.py"])
def test_an_agent_may_not_write_what_a_pinned_script_would_load(box: Box, name: str) -> None:
    write(box, {"tools/g.py": "import helper\n" + PY, "tools/helper.py": "", "other/g.py": ""})
    box.kodik("python3 tools/g.py")
    box.run("trust", "--yes")
    for folder, refused in (("tools", True), ("other", False)):
        path = box.project / folder / name
        payload = {"session_id": "s", "cwd": str(box.project), "hook_event_name": "PreToolUse", "tool_name": "Write",
                   "tool_input": {"file_path": str(path), "content": "x"}}  # fmt: skip
        done = subprocess.run(
            [str(Path(sys.executable).with_name("anyhook")), "bridge", "claude", "PreToolUse"],
            input=json.dumps(payload).encode(), env=box.env, cwd=box.project, capture_output=True, check=False,
            timeout=60,
        )  # fmt: skip
        assert (b"deny" in done.stdout or done.returncode == 2) is refused, (path, done)


def bridged(box: Box, tool: str, **given: str) -> bool:
    """Whether Claude's call of a tool is refused."""
    payload = {"session_id": "s", "cwd": str(box.project), "hook_event_name": "PreToolUse", "tool_name": tool,
               "tool_input": given}  # fmt: skip
    argv = [str(Path(sys.executable).with_name("anyhook")), "bridge", "claude", "PreToolUse"]
    done = subprocess.run(
        argv, input=json.dumps(payload).encode(), env=box.env, cwd=box.project, capture_output=True, check=False,
        timeout=60,
    )  # fmt: skip
    return b'"deny"' in done.stdout or done.returncode == 2


def test_an_agent_may_change_what_is_not_pinned_of_a_file(box: Box) -> None:
    package = '{"scripts": {"test": "sh t.sh", "build": "x"}, "dependencies": {"a": "1"}}'
    write(box, {"package.json": package, "t.sh": SH})
    box.kodik("npm test")
    box.run("trust", "--yes")
    path = str(box.project / "package.json")
    assert not bridged(box, "Edit", file_path=path, old_string='"a": "1"', new_string='"a": "2"')
    assert not bridged(box, "Write", file_path=path, content=package.replace('"x"', '"y"'))
    assert not bridged(box, "Bash", command="npm pkg set scripts.build=z")
    assert not bridged(box, "Bash", command="cat package.json")
    assert bridged(box, "Edit", file_path=path, old_string="sh t.sh", new_string="true")
    assert bridged(box, "Write", file_path=path, content="{}")
    assert bridged(box, "Write", file_path=path, content=package.replace('"build"', '"pretest"'))
    assert bridged(box, "Bash", command="npm pkg set scripts.test=true")
    assert bridged(box, "Bash", command="npm pkg delete scripts")
    assert bridged(box, "Bash", command="rm package.json")
    assert bridged(box, "Bash", command="echo '{}' > package.json")


def test_an_agent_may_not_change_a_pinned_file_that_looks_like_settings(box: Box) -> None:
    write(box, {"tools/g.py": PY, "tools/rules.json": "{}", "other/rules.json": "{}"})
    box.kodik("python3 tools/g.py tools/rules.json")
    box.run("trust", "--yes")
    for folder, refused in (("tools", True), ("other", False)):
        path = str(box.project / folder / "rules.json")
        assert bridged(box, "Write", file_path=path, content='{"allow": "all"}') is refused


def test_an_agent_may_not_add_a_module_that_takes_the_place_of_an_installed_one(box: Box) -> None:
    if shutil.which("perl") is None:
        pytest.skip("needs perl")
    write(box, {"tools/g.pl": "use strict;\n", "lib/Mine.pm": "1;\n"})
    box.kodik("perl -Ilib tools/g.pl")
    box.run("trust", "--yes")
    for name, refused in (("Carp.pm", True), ("File/Temp.pm", True), ("Other.pm", False), ("Carp.txt", False)):
        assert bridged(box, "Write", file_path=str(box.project / "lib" / name), content="1;") is refused, name


def forged(source: Path, box: Box) -> None:
    """A compiled file with the date and size of its source, and other code."""
    seen = source.stat()
    code = marshal.dumps(compile(EVIL.replace("{log}", str(box.log)), "x", "exec"))
    stamps = b"".join(number.to_bytes(4, "little") for number in (0, int(seen.st_mtime), seen.st_size))
    path = Path(importlib.util.cache_from_source(str(source)))
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(importlib.util.MAGIC_NUMBER + stamps + code)


@pytest.mark.parametrize("command", ["python3 hooks/g.py", "sh hooks/g.sh", "python3 -m hooks.g"])
def test_compiled_code_beside_an_approved_source_does_not_run(box: Box, command: str) -> None:
    write(box, {"hooks/g.py": "import sys\nsys.path.insert(0, 'hooks')\nimport helper\n" + PY, "hooks/helper.py": ""})
    write(box, {"hooks/g.sh": "python3 hooks/g.py\n"})
    box.kodik(command)
    box.run("trust", "--yes")
    assert box.fire() == ["ran"]
    forged(box.project / "hooks/helper.py", box)
    subprocess.run(["sh", "-c", command], cwd=box.project, env=box.env, input=b"{}", check=True)
    assert "evil" in box.logged(), "the proof: Python itself takes it"
    box.log.unlink()
    box.env["PYTHONDONTWRITEBYTECODE"] = "1"
    assert box.fire() == ["ran"]
    assert box.logged() == "ran\n"
    assert (box.state / "compiled").is_dir()


@pytest.mark.parametrize("command", ["python3 -E hooks/g.py", "python3 -sE hooks/g.py"])
def test_compiled_code_that_cannot_be_kept_out_is_announced(box: Box, command: str) -> None:
    write(box, {"hooks/g.py": "import helper\n" + PY, "hooks/helper.py": ""})
    box.kodik(command)
    assert "compiled files beside" in box.run("trust", status=1).stdout.decode()


def test_compiled_code_is_announced_where_a_dialect_passes_no_variable(box: Box) -> None:
    write(box, {"hooks/g.py": "import helper\n" + PY, "hooks/helper.py": ""})
    box.write(".kode/config.yaml", "hooks:\n  tool_call_pre:\n    - exec: [python3, hooks/g.py]\n")
    assert "compiled files beside" in box.run("trust", status=1).stdout.decode()
