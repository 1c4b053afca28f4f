"""Cuts to look at: `partition` cuts a graph and judges the cut, `files` and `report` write it."""
