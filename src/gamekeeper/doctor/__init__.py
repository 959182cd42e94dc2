"""Check the whole database for contradictions, such as item totals or columns that differ from the ledger.

The doctor reads in pages within one snapshot, so it can run while a server runs. It writes nothing, except that
`--fix` repairs what follows from other rows: indexes, counts of lists and guilds, blocks, and totals of past days.
A server imports these modules only when the doctor runs.
"""
