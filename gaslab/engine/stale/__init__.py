"""The engine of bounded staleness: ranks may be in different supersteps."""
