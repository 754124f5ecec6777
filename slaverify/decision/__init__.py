"""Room decision."""
