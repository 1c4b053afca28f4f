"""The answers of a run: tables, traces, and the files with them."""
