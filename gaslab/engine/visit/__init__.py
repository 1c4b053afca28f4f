"""visit: sweeps over all edges, which write both ends of each."""
