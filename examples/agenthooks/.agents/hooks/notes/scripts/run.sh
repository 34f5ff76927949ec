#!/bin/sh
# Runs in the background: its answer counts for nothing, its output is only logged.
cat >> "$KIMI_WORK_DIR/.agents/written.jsonl"
echo >> "$KIMI_WORK_DIR/.agents/written.jsonl"
