"""What a run answers: tables, traces, and the files they are written to."""
