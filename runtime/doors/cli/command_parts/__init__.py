"""Parts of commands that are code, by subject: what they ask, run and show."""
