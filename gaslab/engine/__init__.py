"""Engines: orchestration of a program's phases over a partitioned graph."""

from gaslab.engine.run import run

__all__ = ["run"]
