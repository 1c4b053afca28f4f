"""The words a vertex program is written in: fields, combiners, lists, random numbers, phases."""
