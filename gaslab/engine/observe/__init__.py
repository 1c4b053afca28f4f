"""Observers of a run: timeline, trace, history and progress."""
