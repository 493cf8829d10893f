"""The chronology of scenes: told times, days, order and contradictions."""
