"""What `make docs` adds to the pages of docs/; no part of the package."""
