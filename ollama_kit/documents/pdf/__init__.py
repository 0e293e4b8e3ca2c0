"""PDF, by pypdfium2's raw interface.

pdf_text       the reader: all of the below, page by page; pages without text or with text that cannot be read
pdfium         the file: whole, unlocked, within the limits; pages one at a time, each closed before the next
ink            what letters are drawn with, and what is painted above and below them
words          the words of a page with their boxes and their ink, turned in the direction they are read
visibility     which words nobody sees, and whether a page is a scan with recognized text
ruled          tables with ruled cells, and blanks that are drawn
reading_order  words into rows, columns and paragraphs
page_breaks    running headers and footers, and paragraphs that continue on the next page
annotations    comments, form fields, properties, attachments
"""
