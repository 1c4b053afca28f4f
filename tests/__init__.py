"""The tests; a package, so that ranks started by the harness can import what a test sends them."""
