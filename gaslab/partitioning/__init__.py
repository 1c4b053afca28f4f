"""The vertex-cut: every edge to one rank, every vertex one master, the mirrors agreed.

In order of use: one of `strategies`, found by name in the `registry`, assigns each edge a part, a stateful
one by way of `stream` over `pairs`; `shuffle` moves the edges, `index` numbers the vertices of the rank's
edges, `masters` are chosen at the `directory`, `build` orders and sorts everything (`rows`) into a
`local_graph.LocalGraph`. `cut` makes a cut into any number of parts without building it, `census` counts the
contents of the parts, and `metrics` measure the quality.
"""
