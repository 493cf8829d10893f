"""What of the pages is not run, or not run as it stands, each by name; nothing else is left out."""

NOT_RUN = {
    "main-command": "makes an environment and installs into it; tests/test_packaging.py does so with the wheel",
    "main-command-zh": "the same in Chinese",
    "test-command": "installs and runs these tests; .ci/run runs this very line",
    "minutes": "a measurement of minutes to hours, of which the page tells the commit",
}
"""Markers of blocks that no test runs, and why."""

PRINTED_BY = "printed by: "
"""Begins the marker of a block that shows a terminal; tests/docs/test_printed.py compares it with its command."""

SERVED_HERE = (
    "http://127.0.0.1:8080/v1",
    "http://127.0.0.1:11434/v1",
    "https://api.deepseek.com/v1",
    "https://dashscope.aliyuncs.com/compatible-mode/v1",
)
"""Addresses of services; in a test the stub server's address stands in their place."""
