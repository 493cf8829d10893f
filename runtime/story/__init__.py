"""What a user can do, one typed function each: the command line, the tools and the front door are thin over it.

A function takes open stores and a project first and everything else by keyword, returns Pydantic models or
dataclasses, raises the errors of novelgen/errors.py, and neither prints nor asks. A new door, HTTP for one, is
attached here.
"""
