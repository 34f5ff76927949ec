"""Agents: one file per product, with everything that is particular to it. Rows, and small functions in
their cells; nothing here runs anything.

A module of this package holds, in this order: what the product is, and the version seen (`VERSION`); `DIALECT`, how
its hooks are declared, called and read; `HOST`, how it calls us; `changes()`, the versions in which it changed what our
entry relies on; `drive()`, how it is run without a person for a live check; `sample()`, one small hook that blocks and
a call that it blocks. A product has the parts that it needs. What is loaded only for another verb, such as the reader
of its transcripts (`past.py`), may be a module of its own in a folder.

Evidence: every behaviour of a dialect is a numbered row next to the vectors that show it
(`extra/testing/conformance/vectors/<name>/rows.json`). What a host honours was seen in runs of the version
that its module names (`gates/observed.json`).

Modules that begin with `_` hold what a family of products shares.
"""
