"""Files, arrays and generators to `EdgeList`: edges in global ids, spread over the ranks."""
