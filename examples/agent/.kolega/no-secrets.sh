#!/bin/sh
# Refuses to write secrets to disk.
if grep -q AWS_SECRET; then
    echo "Refusing to write a secret to disk." >&2
    exit 2
fi
