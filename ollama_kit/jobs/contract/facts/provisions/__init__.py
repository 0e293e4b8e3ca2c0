"""What a contract provides on a topic, sentence by sentence, with the particulars in each.

provision_rule   what a rule is: the words that a sentence must have, and the particulars that are read from it
renewal, trade, liability, secrecy, ending   the rules, by topic
extractor        read_provisions

Names of particulars, and their values where they are not the contract's words (lengths of time are "30 day", rates
"0.05% per day", amounts "CNY 500000", dates ISO):

renewal                 kind (automatic, agreement, option, none), period, notice
tax                     price (included, excluded), rate, invoice (special, general), bearer
delivery                date, period, place, freight, risk, term (FOB, CIF, ...)
acceptance              period, deemed (accepted, rejected), standard
liability               penalty, rate, amount, cap, exception, damages (excluded: consequential ones), indemnity, kind
                        (compensation)
confidentiality         period, survival (indefinite), duty (kept secret), exception
intellectual_property   owner, kind (ownership, assignment, work_for_hire, license, non_infringement)
termination             who, kind (convenience, cause, automatic, agreement), notice, cure
force_majeure           notice, effect (excused, suspended, termination), period
"""
