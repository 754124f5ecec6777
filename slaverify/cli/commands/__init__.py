"""One file per family of commands. Each imports what it needs inside the command that needs it."""
