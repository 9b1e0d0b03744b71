"""`python -m registry` is the command `registry`."""

from registry.cli import main

if __name__ == "__main__":
    main()
