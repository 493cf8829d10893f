"""The rules of the README's security table, each by its test."""
