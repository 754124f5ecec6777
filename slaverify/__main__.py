"""`python -m slaverify` is the same as `slaverify`."""

from slaverify.cli import main

if __name__ == "__main__":
    main()
