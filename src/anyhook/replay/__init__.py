"""Judging the past again: replay, and backtests of hooks over recorded events."""
