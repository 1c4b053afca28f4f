"""A graph on disk: a folder of plain arrays and a manifest, read and cut once and started from at once.

`part` says which arrays a part of a graph is, `ids` those of the user ids, `files` writes and maps one array,
`manifest` describes all of them. `write` saves a graph, `load` starts from one, with `packing` where it has
more parts than there are ranks.
"""
