"""Every pair of the language's features, drawn into programs and runs, and held against the reference.

``python -m tests.pairs --seconds 600 --seed 1`` draws for so long; docs/pairs.md is the map.
"""
