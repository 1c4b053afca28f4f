"""What is read: text, arrays and the formats of others."""
