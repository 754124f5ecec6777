"""Room verify."""
