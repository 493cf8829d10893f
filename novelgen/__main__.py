"""`python -m novelgen`: the same program as `novelgen`."""

from runtime.doors.cli.main import main

if __name__ == "__main__":
    main()
