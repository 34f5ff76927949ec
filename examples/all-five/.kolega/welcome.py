"""Gives the agent the house rules at the start of a session."""

import json

rules = "House rules: small commits, tests next to the code, never touch the schema by hand."
print(json.dumps({"hookSpecificOutput": {"additionalContext": rules}}))
