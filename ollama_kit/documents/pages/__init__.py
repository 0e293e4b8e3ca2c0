"""What the writers of every job share: text that only says something, templates, style sheets, cells, file names.

plain       text without what acts instead of being read
rendering   a template, everything printed escaped
markdown    text that Markdown shows as it is
markup      text that HTML shows as it is
style       a page's style sheet and the policy that allows it alone
cells       text that no spreadsheet takes for a formula
filenames   names that every system takes, numbered where two are one
outputs     formats by name, and files written whole or not at all
"""
