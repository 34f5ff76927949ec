#!/bin/sh
# Blocks every tool call that mentions the file named in the first argument.
if grep -qF -- "$1"; then
    echo "$1 is off limits for the agent" >&2
    exit 1    # in Kode any status but 0 blocks
fi
