"""Graphs, their cuts and what is made of them."""
