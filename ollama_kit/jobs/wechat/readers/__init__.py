"""Readers of the formats that WeChat exporters write, chosen by a file's content.

A reader is a generator: it takes a file and the options and yields `Record`s, and in between `Broken` rows and `Note`s
(record.py). It knows one format and nothing of ids, limits or reports; `reading.py` adds those.
"""
