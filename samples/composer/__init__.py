"""Samples that are composed from parts rather than collected. See samples/README.md."""
