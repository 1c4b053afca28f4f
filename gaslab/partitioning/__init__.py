"""The vertex-cut: every edge to one rank, every vertex one master, the mirrors agreed.

In the order of their use: one of `strategies`, found by name in the `registry`, names the part of each edge,
a stateful one by the road of `stream` over `pairs`; `shuffle` moves the edges, `index` numbers the vertices
of the rank's edges, `masters` are chosen at the `directory`, `build` orders and sorts all of it (`rows`) into
a `local_graph.LocalGraph`. `cut` makes a cut into any number of parts without building it, `census` counts
what these hold, and `metrics` say how good that is.
"""
