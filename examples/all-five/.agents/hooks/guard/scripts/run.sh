#!/bin/sh
payload=$(cat)
case "$payload" in
*"rm -rf /"*) echo "rm -rf on an absolute path" >&2; exit 2 ;;
*"git push"*--force*) echo "A force push rewrites what others have pulled." >&2; exit 2 ;;
esac
