"""What ranks are and how they talk: launcher, MPI, communicator, transport, failures."""
