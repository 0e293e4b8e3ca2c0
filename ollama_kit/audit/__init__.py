"""The record of guarded calls: one row a call in a SQLite file, off unless the settings turn it on."""
