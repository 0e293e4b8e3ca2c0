"""Whether a contract bears out what a model says of it.

figures   the dates, amounts, rates and numbers of a text, however they are written
prover    quotes found in the contract; parts of a value that its quotes do not hold
"""
