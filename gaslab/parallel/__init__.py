"""Ranks and their communication: launcher, MPI, communicator, transport, failures."""
