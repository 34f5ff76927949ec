#!/usr/bin/env python3
"""Takes AWS access keys out of a prompt before it leaves the machine."""

import json
import re
import sys

prompt = json.load(sys.stdin)["prompt"]
clean, count = re.subn(r"AKIA[0-9A-Z]{16}", "[AWS key]", prompt)
if count:
    print(json.dumps({"replace_prompt": clean, "annotation": f"took {count} AWS key(s) out"}))
