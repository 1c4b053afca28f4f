"""A graph over the ranks: where it comes from, and what can be made of it."""
