"""The language: what a program may say, how it is read, turned to C, and what it means."""
