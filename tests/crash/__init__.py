"""Seeded kills: a program that stores scenes and builds contexts is killed again and again, and nothing is lost."""
