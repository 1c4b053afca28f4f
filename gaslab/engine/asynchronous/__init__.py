"""The asynchronous engine: no supersteps; a scheduler chooses the next vertices."""
