# Tells the agent which branch it is on. The last line of stdout is the answer.
branch=$(git rev-parse --abbrev-ref HEAD 2>/dev/null || echo "no branch yet")
printf '{"additional_context": "Current git branch: %s"}\n' "$branch"
