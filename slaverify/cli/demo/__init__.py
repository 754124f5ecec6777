"""The demo: the whole line with demo keys, a demo timestamp authority and a vendor simulator on loopback."""
