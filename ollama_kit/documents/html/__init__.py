"""HTML, by the standard library's parser.

hiding      which elements a reader does not see: attributes, inline styles, simple rules of style sheets
reading     the text of those that he does
"""
