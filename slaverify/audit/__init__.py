"""The line itself: one function a step over one run folder. Each step looks for its own entry and files first.

A kill between any two steps repeats none: the same walk goes on where it stopped.
"""
