"""The reference engine: vertex programs in plain Python, against which the other engines are tested."""
