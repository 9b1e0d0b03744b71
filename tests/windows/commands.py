"""Run commands one after the other in one interpreter: JSON lists of arguments on stdin, statuses on file 3."""

import json
import os
import sys

from registry.cli import main

if __name__ == "__main__":
    for line in sys.stdin.read().splitlines():
        sys.argv = ["registry", *json.loads(line)]
        status = 0
        try:
            main()
        except SystemExit as end:
            status = end.code or 0
        sys.stdout.flush()
        sys.stderr.flush()
        os.write(3, f"{json.dumps([status, sys.argv[1:]])}\n".encode())
