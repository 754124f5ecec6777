"""The rules: one file per kind of reference, each a pure function from a reference and an answer to a finding."""
