"""Blocks force pushes, and makes every other push a dry run."""

import json
import sys

event = json.load(sys.stdin)
command = event["tool_input"].get("command", "")
words = command.split()

if words[:2] == ["git", "push"]:
    if "--force" in words or "-f" in words:
        print("A force push rewrites what others have pulled.", file=sys.stderr)
        sys.exit(2)
    if "--dry-run" not in words:
        rewritten = {**event["tool_input"], "command": f"{command} --dry-run"}
        print(json.dumps({"modified_input": rewritten}))
