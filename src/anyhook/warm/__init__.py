"""The warm server: processes that have loaded the command already, each of which serves one call and ends. A call that
is served gets the answer of a cold one, because the same `main` runs in a process of its own; a call that cannot be
served exactly so is made cold."""
