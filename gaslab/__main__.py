"""``python -m gaslab`` is ``gaslab``."""

import sys

from gaslab.cli import main

sys.exit(main())
