#!/usr/bin/env python3
"""Puts the page into one file: markup, style, scripts, the compiled predictor and the catalogue.

Usage: bundle.py ENGINE.js SOURCE_DIR OUT.html
"""
import json
import pathlib
import sys


def in_script(text):
    """Text as a script element holds it: nothing in it ends the element or begins a comment."""
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def main(arguments):
    if len(arguments) != 4:
        sys.exit(__doc__)
    engine, root, out = (pathlib.Path(argument) for argument in arguments[1:])
    page = root / "model" / "web" / "page"
    catalogue = {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
                 for path in sorted((root / "hardware").rglob("*.toml"))}
    parts = {
        "style.css": (page / "style.css").read_text(encoding="utf-8"),
        "engine": in_script(engine.read_text(encoding="utf-8")),
        "catalogue": json.dumps(catalogue, ensure_ascii=False).replace("<", "\\u003c"),
        **{name: in_script((page / name).read_text(encoding="utf-8")) for name in ("worker.js", "plots.js", "page.js")},
    }
    text = (page / "index.html").read_text(encoding="utf-8")
    for name, part in parts.items():
        place = f"/* {name} */"
        if text.count(place) != 1:
            sys.exit(f"{page}/index.html: expected one place for {name}")
        text = text.replace(place, part)
    out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv)
