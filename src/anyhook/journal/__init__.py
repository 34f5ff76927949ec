"""The journal: one line for each fired event.

Writing: `journal` takes firings, `record` makes their lines, `suspect` and `redact` keep secrets out, `writer` seals
the lines and appends them. Reading: `files` has the bytes, `read` the typed line; `search` finds lines, `runs`,
`run_index` and `stats` count, `verify` proves that nothing was changed. Export: `export_otlp`, `export_parquet`."""
