"""Other people's JSON, YAML and TOML: read with limits, find lines, guess the mistake, edit in place."""
