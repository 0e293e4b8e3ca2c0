"""What a contract says: one module a question. All rules are pure functions of the text."""
