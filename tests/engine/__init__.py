"""Runs with supersteps and stale ones: how they start, end, fail, and what they answer."""
