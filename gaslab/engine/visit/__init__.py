"""visit: sweeps over all edges in which both ends are written."""
