"""What tests share: drawn graphs, programs, harnesses."""
