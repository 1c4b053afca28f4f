"""The reference engine: vertex programs in plain Python, the oracle of every other engine."""
