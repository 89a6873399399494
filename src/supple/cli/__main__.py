"""Let ``python -m supple.cli`` be the command."""

from supple.cli import main

if __name__ == "__main__":
    main()
