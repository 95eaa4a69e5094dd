"""`python -m jali` is the command line."""

import os
import sys

if __name__ == "__main__":
    # `python -m` puts the working folder first, where numpy.py or numexpr.py would run; jali itself may lie there.
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if not sys.flags.safe_path and sys.path[0] != home:
        del sys.path[0]

    from jali.cli import main

    main()
