"""``python -m supple.cli`` runs the command."""

from supple.cli import main

if __name__ == "__main__":
    main()
