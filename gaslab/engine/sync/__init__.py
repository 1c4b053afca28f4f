"""The synchronous engine: all ranks run the same superstep."""
