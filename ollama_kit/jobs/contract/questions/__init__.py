"""What a model is asked of a contract.

questionnaire   the questions of a schema: ours, or a user's own
resolution      a schema with its references followed
keywords        what of ours may stand in it, in which form
form            the schema of an answer: each value with the quotes that prove it
"""
