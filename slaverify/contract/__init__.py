"""Room contract."""
