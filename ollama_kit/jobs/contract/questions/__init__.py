"""What a model is asked of a contract.

questionnaire   the questions of a schema: ours, or a user's own
form            the schema of an answer: each value with the quotes that prove it
"""
