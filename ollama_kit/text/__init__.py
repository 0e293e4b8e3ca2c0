"""What any layer may ask of a text. Nothing here knows of a model, a guard, a document or a job.

encodings       bytes into text, and text into files, whole or not at all
spans           where a character of changed text was in the text that the caller gave
characters      where a text may be cut, and the characters that nobody sees
folding         a text as rules read it: full width, dashes and spaces made plain, at the same offsets
locate          where a quote is in a text, and how much two texts say the same
pattern_search  patterns over long texts in little time
language        Chinese or English
dates/          dates, terms, deadlines
figures/        numbers in words, money, percentages
"""
