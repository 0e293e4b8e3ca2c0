"""What a contract says: one module per question. All rules are pure functions of the text."""
