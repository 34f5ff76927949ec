"""Is this gate on, and if not, why: for `status`, `doctor`, `check` and the reviews of `trust`."""
