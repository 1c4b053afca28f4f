"""Inputs on which other systems answered wrong, crashed or hung: a module for each theme."""
