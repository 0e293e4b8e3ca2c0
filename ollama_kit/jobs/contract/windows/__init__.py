"""What of a contract a model is shown: segments, the ones that speak of a question, windows of exact tokens.

segments    the text cut where its clauses begin
retrieval   which segments a question needs
packing     windows that fit, counted in the model's own tokens
"""
