"""README and docs tell the truth: every block of them runs as it stands."""
