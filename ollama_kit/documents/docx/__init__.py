"""DOCX, by zipfile and lxml.

docx_text     the reader: the body, then comments, footnotes, running headers, properties
opc           the parts of the file: bounded in number, size and ratio; XML without DTD and entities
styles        what the styles say of hidden text, color, size, numbering
list_numbers  the number shown before a paragraph, in any of Word's forms: 1, a, iv, 十二, 壹, ①
body          paragraphs, tables and text boxes in their order: changes accepted, hidden runs apart

python-docx is not used: it loads every part with the pictures, and knows neither numbers of lists nor tracked changes.
"""
