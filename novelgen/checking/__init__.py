"""Whether a draft holds: its contradictions of the story before it, by rules and by a model."""
