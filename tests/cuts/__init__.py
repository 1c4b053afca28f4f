"""Cuts into any number of parts: their figures, their files and their page."""
