"""The process and its machine: memory, files whole or not at all, what must not stay behind."""
