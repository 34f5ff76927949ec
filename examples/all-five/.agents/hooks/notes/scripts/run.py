#!/usr/bin/env python3
"""Appends the command to a file."""

import json
import os
import sys

event = json.load(sys.stdin)
with open(os.path.join(event["work_dir"], "commands.log"), "a") as log:
    log.write(event["tool_input"]["command"] + "\n")
