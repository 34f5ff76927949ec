# Keeps the agent working while a file says FIXME: the reason becomes its next instruction.
found=$(grep -rl FIXME src 2>/dev/null | head -3)
if [ -n "$found" ]; then
    echo "Finish what is marked FIXME in: $found" >&2
    exit 2
fi
