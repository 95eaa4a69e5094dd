"""`python -m jali` is the command line."""

from jali.cli import main

if __name__ == "__main__":
    main()
