"""Opens a page in a headless Chromium, where there is one; acts on it as a user does."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")

_COLLECT = """<script>window.faults = [];
addEventListener("error", (event) => faults.push(event.message));
addEventListener("securitypolicyviolation", (event) => faults.push(event.violatedDirective));
window.alert = (text) => faults.push("alert " + text);</script>"""


def visit(page: Path, action: str, folder: Path) -> dict[str, Any]:
    """Open a page, run *action* in it and return the object that it fills, ``seen``, with ``faults``.

    The page loses its content security policy for that, which lets no script run but its own.
    """
    text = page.read_text("utf-8")
    text = re.sub(
        r'<meta http-equiv="Content-Security-Policy".*?">', _COLLECT, text, count=1, flags=re.DOTALL
    )
    script = f"""<script>const seen = {{}}; {action}
    seen.faults = faults;
    document.body.dataset.seen = encodeURIComponent(JSON.stringify(seen));</script>"""
    copy = folder / "visited.html"
    copy.write_text(text.replace("</body>", script + "</body>"), "utf-8")
    found = re.search(r'data-seen="([^"]*)"', opened(copy, folder))
    assert found, "the page's scripts did not come to their end"
    seen: dict[str, Any] = json.loads(unquote(found[1]))
    return seen


def opened(page: Path, folder: Path) -> str:
    """Return the document as the page's own script leaves it."""
    if CHROMIUM is None:
        pytest.skip("no chromium here; apt-get install chromium")
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"]
    done = subprocess.run(
        [CHROMIUM, *options, "--dump-dom", page.resolve().as_uri()],
        capture_output=True,
        text=True,
        timeout=60,
        env={name: value for name, value in os.environ.items() if name != "LD_PRELOAD"},  # no sanitizer in it
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
