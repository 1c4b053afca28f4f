"""Supersteps under bounded staleness: a rank may be ahead of the others."""
