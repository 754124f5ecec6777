"""Room evalset."""
