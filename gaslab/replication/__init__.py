"""The exchange of values between masters and mirrors, and between two cuts of one graph."""
