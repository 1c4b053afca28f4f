"""Values on their way between masters and mirrors, and from one cut to another."""
