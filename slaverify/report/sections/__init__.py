"""The sections of the document, one module each: facts of the bundle in, blocks of messages out."""
