# SPDX-License-Identifier: Apache-2.0
"""The look at a page in headless Chromium finds errors: test_browser.py ROOT."""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(sys.argv[1]) / "tools"))
import browser

chromium = browser.find_browser()
if chromium is None:
    print("browser: no Chromium")
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    page = Path(folder) / "page.html"

    def problems(body: str) -> str:
        page.write_text(f'<link rel="icon" href="data:,"><p>text</p>{body}')
        return "; ".join(browser.check_page(page, chromium, page.parent))

    assert problems("") == "", problems("")
    assert "wider" in problems('<div style="width: 2000px">wide</div>')
    assert "did not load" in problems('<img src="data:image/png;base64,AAAA">')
    assert "a request for http" in problems('<img src="http://127.0.0.1:9/x.png">')
    assert "exception" in problems("<script>throw new Error('no')</script>")
