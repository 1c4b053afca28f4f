"""Runs without supersteps: locks, order, limits and the end."""
