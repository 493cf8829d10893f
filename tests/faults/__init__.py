"""The fault matrix as tests: every fault is real, and every row says what must become of it."""
