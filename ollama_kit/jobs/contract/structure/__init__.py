"""How a contract is built: its clauses by their numbers, definitions, attachments, signatures, cross-references."""
