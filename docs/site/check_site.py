# SPDX-License-Identifier: Apache-2.0
"""Checks the built pages: check_site.py FOLDER [--browser].

- Links lead to files that are there, and to places in them.
- Nothing is loaded from elsewhere.
- With --browser, in headless Chromium: some pages load without errors, and the search finds a call.
"""

import subprocess
import sys
import tempfile
import urllib.parse
from html.parser import HTMLParser
from pathlib import Path

# Pages that a browser shows: prose, wide tables, much code.
LOOKED_AT = (
    *("index.html", "first-steps.html", "coming-from.html", "settings.html"),
    *("reference/c.html", "reference/cpp.html", "reference/fortran.html", "reference/python.html"),
)
REPORTED = 50


class Page(HTMLParser):
    """Links, what is loaded, and places of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.loaded: set[str] = set()
        self.places: set[str] = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.places |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.add(found["href"])
        elif tag == "link" and found.get("rel") not in ("canonical", "next", "prev"):
            self.loaded.add(found["href"])
        elif tag in ("script", "img", "iframe", "source") and "src" in found:
            self.loaded.add(found["src"])


def broken(site: Path, page: Path, address: str, pages: dict[Path, Page]) -> bool:
    """Whether an address within the site leads nowhere."""
    parts = urllib.parse.urlsplit(address)
    target = page if not parts.path else (page.parent / urllib.parse.unquote(parts.path)).resolve()
    if not target.is_file() or not target.is_relative_to(site):
        return True
    place = urllib.parse.unquote(parts.fragment)
    return target in pages and place not in pages[target].places


def check_links(site: Path) -> list[str]:
    # 404.html is left out, because its links begin at the root of the server.
    files = [f for f in sorted(site.rglob("*.html")) if f.name != "404.html"]
    pages = {file: Page(file.read_text()) for file in files}
    problems = []
    for file, page in pages.items():
        name = file.relative_to(site)
        for address in sorted(page.links | page.loaded):
            elsewhere = urllib.parse.urlsplit(address)
            if elsewhere.scheme or elsewhere.netloc:
                if address in page.loaded:
                    problems.append(f"{name}: loads {address}")
            elif broken(site, file, address, pages):
                problems.append(f"{name}: no {address}")
    return problems if pages else [f"no pages in {site}"]


def check_search(site: Path, program: str) -> list[str]:
    """Whether the search works in a page that is opened from disk."""
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000"]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options += [f"--user-data-dir={profile}", "--dump-dom"]
        address = f"{(site / 'index.html').as_uri()}?q=tw_put_box"
        shown = subprocess.run(
            [program, *options, address], capture_output=True, text=True, timeout=120, check=False
        ).stdout
    return [] if "<mark>tw_put_box" in shown else ["the search does not find tw_put_box"]


def check_browser(site: Path) -> list[str]:
    sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
    from browser import check_page, find_browser

    program = find_browser()
    if program is None:
        print("site: not looked at, there is no Chromium")
        return []
    problems = []
    for name in LOOKED_AT:
        found = check_page(site / name, program, site)
        problems += [f"{name}: {problem}" for problem in found]
    return problems or check_search(site, program)


def main() -> int:
    site = Path(sys.argv[1]).resolve()
    problems = check_links(site)
    if not problems and "--browser" in sys.argv[2:]:
        problems = check_browser(site)
    print("\n".join(problems[:REPORTED]) or f"site: ok, {site / 'index.html'}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
