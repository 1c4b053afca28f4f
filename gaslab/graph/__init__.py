"""A graph over the ranks: its sources and its operations."""
