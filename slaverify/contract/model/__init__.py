"""The tree of a contract as frozen models, one file per block. Private to the room but for what its face exports."""
