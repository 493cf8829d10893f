"""Everything that parses, fed with what nobody would write: only documented errors may come out.

`NOVELGEN_TEST_FUZZ_EXAMPLES` sets the number of examples of each test.
"""
