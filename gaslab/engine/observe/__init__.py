"""What is seen of a run as it goes: timeline, trace, progress."""
