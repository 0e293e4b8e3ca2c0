"""Whole jobs made of guarded calls: what goes in is what people have, what comes out can be trusted and resumed."""
