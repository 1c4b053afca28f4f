"""Supersteps in step: every rank waits for the others."""
