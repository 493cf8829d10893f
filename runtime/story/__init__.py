"""Use cases of a story as typed functions.

A function takes open stores and a project first and everything else by keyword, returns Pydantic models or
dataclasses, raises the errors of novelgen/errors.py, and neither prints nor asks. A new door, HTTP for one, is
attached here.
"""
