"""Shows the model the last lines of a long output, and says so."""

import json
import sys

LINES = 20

lines = json.load(sys.stdin)["tool_output"].splitlines()
if len(lines) > LINES:
    answer = {
        "updatedToolOutput": "\n".join(lines[-LINES:]),
        "additionalContext": f"{len(lines) - LINES} earlier lines were left out.",
    }
    print(json.dumps({"hookSpecificOutput": answer}))
