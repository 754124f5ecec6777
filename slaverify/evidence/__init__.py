"""Room evidence."""
