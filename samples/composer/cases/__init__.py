"""One file a sample, named like its folder."""
