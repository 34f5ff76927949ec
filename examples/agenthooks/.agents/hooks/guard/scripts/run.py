#!/usr/bin/env python3
"""Lets `rm -rf` work below the project only."""

import json
import os
import shlex
import sys

event = json.load(sys.stdin)
words = shlex.split(event["tool_input"].get("command", ""))
outside = [
    word
    for word in words
    if word.startswith(("/", "~", ".."))
    and not os.path.abspath(os.path.expanduser(word)).startswith(event["work_dir"] + os.sep)
]
if "mkfs" in words or ("rm" in words and outside):
    print(f"Not outside the project: {' '.join(outside) or words[0]}", file=sys.stderr)
    sys.exit(2)
print(json.dumps({"decision": "allow"}))
