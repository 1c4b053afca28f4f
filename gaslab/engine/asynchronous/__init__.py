"""No supersteps: a vertex runs when its turn in the scheduler comes."""
