"""``python -m gaslab`` is ``gaslab``; ``python -m gaslab SCRIPT.py`` runs a script."""

import sys

from gaslab.cli import main

sys.exit(main())
