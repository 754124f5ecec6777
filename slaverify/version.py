"""Version of the product, one place."""

__version__ = "0.1.0"
