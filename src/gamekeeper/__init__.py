"""Read and change an online game's players and accounts over HTTP."""

__version__ = "0.1.0"
