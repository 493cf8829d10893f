"""`python -m novelgen`: the same program as `novelgen`."""

import sys

from novelgen.errors import ConfigurationError
from novelgen.lazy_exports import import_own

if __name__ == "__main__":
    try:
        main = import_own("runtime.doors.cli.main").main
    except ConfigurationError as error:
        sys.exit(f"error: {error}")
    main()
