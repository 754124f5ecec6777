"""Importers: what people bring, to items and a report of what was read and how."""
