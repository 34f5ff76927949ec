"""The warm server: processes that have already loaded the command. Each serves one call and exits. A served call gets
the same answer as a cold one, because the same `main` runs in a separate process. A call that cannot be served in
exactly this way is made cold."""
