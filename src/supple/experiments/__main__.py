"""``python -m supple.experiments PAPER [ITEM] [--quick] [--seed] [--jobs] [--out DIR]``."""

import sys

from supple.experiments._command import main

if __name__ == "__main__":  # worker processes import this file as well
    sys.exit(main())
