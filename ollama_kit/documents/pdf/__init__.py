"""PDF, by pypdfium2's raw interface.

opening     the file: whole, unlocked, within the limits; pages one at a time, each closed before the next
words       the words of a page with their boxes and their ink
ink         what a word is drawn with, and what is painted above and below it
visibility  which words nobody sees, and whether a page is a scan with recognized text
turning     words in the direction they are read: rotated pages, and text turned on its page
columns     reading order
rows        words into rows and cells
paragraphs  rows into paragraphs
edges       what repeats at the top and foot of pages
legible     pages without text or with text that cannot be read
beside      comments, form fields, properties, attachments
pages       the reader: all of the above, page by page
"""
