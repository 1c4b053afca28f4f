"""The vertex-cut: every edge to one rank, every vertex one master, the mirrors agreed.

In the order of their use: `strategies` name the part of each edge, `shuffle` moves the edges,
`index` numbers the vertices of the rank's edges, `place` chooses the masters at the `directory`, `build`
orders and sorts all of it (`rows`) into a `local_graph.LocalGraph`. `metrics` say how good a cut
is, and `cut` measures one into any number of parts without building it.
"""
