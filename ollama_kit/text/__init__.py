"""What any layer may ask of a text: where it may be cut, how it is folded, its language, encoding, dates and figures.

Nothing here knows of a model, a guard or a job.
"""
