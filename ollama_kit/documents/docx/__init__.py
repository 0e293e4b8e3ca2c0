"""DOCX, by zipfile and lxml.

package     the parts of the file: bounded in number, size and ratio; XML without DTD and entities
styles      what the styles say of hidden text, color, size, numbering
numerals    a number as lists write it: 1, a, iv, 十二, 壹, ①
numbering   the number that stands before a paragraph
inline      the words of a paragraph: changes accepted, hidden runs apart
blocks      paragraphs, tables, text boxes in the order of the body
beside      comments, footnotes, running headers, properties
reading     the reader

python-docx is not used: it loads every part with the pictures, and knows neither numbers of lists nor tracked changes.
"""
