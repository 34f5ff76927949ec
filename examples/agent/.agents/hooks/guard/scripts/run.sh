#!/bin/sh
case "$(cat)" in
*"git push"*--force*) echo "A force push rewrites what others have pulled." >&2; exit 2 ;;
esac
