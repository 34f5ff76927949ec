"""The past judged again: replay, and backtests of hooks over recorded events."""
