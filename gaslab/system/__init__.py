"""The process and its machine: memory, files written whole or not at all, cleaning up."""
