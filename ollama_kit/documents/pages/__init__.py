"""What the writers of every job share.

escaping        text without what acts instead of being read: plain, for Markdown, HTML and the cells of a spreadsheet
page_templates  a Markdown text; a page's style sheet and the policy that allows it alone
output_files    formats by name; file names that every system takes; files written whole or not at all
"""
