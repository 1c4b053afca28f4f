"""Engines: orchestration of a program's phases over a partitioned graph."""
