"""Makes every push a dry run."""

import json
import sys

given = json.load(sys.stdin)["tool_input"]
command = given.get("command", "")
if command.startswith("git push") and "--dry-run" not in command:
    print(json.dumps({"modified_input": {**given, "command": f"{command} --dry-run"}}))
