#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the code of notebooks, each in an interpreter and a folder of its own; exit 1 where a cell fails or says
something else than the notebook has. It takes no Jupyter. With --write the notebooks get new outputs, pictures
included: that takes nbclient and ipykernel (Debian: python3-nbclient, python3-ipykernel).

usage: notebook_check.py [--write] NOTEBOOK...
"""
import ast
import contextlib
import io
import json
import re
import subprocess
import sys
import tempfile
import traceback
import types
from pathlib import Path


def said(cell):
    """What a cell printed and answered, as text."""
    texts = []
    for output in cell.get("outputs", []):
        texts += output.get("text") or output.get("data", {}).get("text/plain") or []
    return plain("".join(texts))


def plain(text):
    """Without what differs from run to run, and however it is broken into lines."""
    text = re.sub(r"searched in [^;]*;|<(?:IPython|__main__)[^>]*>|\b\d+\.\d+\.\d+\b", "", text)
    return re.sub(r"([(\[{,]) |\s+(?=[)\]}])", r"\1", " ".join(text.split()))


class HTML:
    """In place of IPython's, where that is missing."""

    def __init__(self, data):
        self.data = data

    def __repr__(self):
        return "<IPython.core.display.HTML object>"


def run_cell(source, names):
    """Prints what it says, the value of its last line too, as a notebook does."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        if value is not None:
            print(repr(value))


def run(path):
    """Every cell, in this interpreter."""
    display = types.ModuleType("IPython.display")
    display.HTML = HTML
    sys.modules.update({"IPython": types.ModuleType("IPython"), "IPython.display": display})
    with contextlib.suppress(ImportError):
        import pandas
        pandas.set_option("display.max_columns", 20)  # as in a notebook
    names = {"__name__": "__main__"}
    for cell in json.loads(Path(path).read_text())["cells"]:
        if cell["cell_type"] != "code":
            continue
        source = "".join(cell["source"])
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                run_cell(source, names)
        except Exception:
            yield f"{Path(path).name}: {source}\n{traceback.format_exc()}"
            return
        if plain(printed.getvalue()) != said(cell):
            yield f"{Path(path).name}: {source}\nhas\n{said(cell)}\nand said\n{plain(printed.getvalue())}"


def write(path):
    import nbformat
    from nbclient import NotebookClient
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory(prefix="mapsim_") as folder:
        NotebookClient(notebook, timeout=120, kernel_name="python3", record_timing=False,
                       resources={"metadata": {"path": folder}}).execute()
    for cell in notebook.cells:
        cell.pop("id", None)
    notebook.nbformat_minor = 4
    path.write_text(nbformat.writes(notebook) + "\n")


def checked(path):
    with tempfile.TemporaryDirectory(prefix="mapsim_") as folder:
        ran = subprocess.run([sys.executable, __file__, "--run", path.resolve()], cwd=folder, text=True,
                             stdout=subprocess.PIPE, check=False)
    return ran.stdout if ran.returncode else ""


def main(words):
    if words[0] == "--run":
        found = list(run(words[1]))
    elif words[0] == "--write":
        for word in words[1:]:
            write(Path(word))
        found = []
    else:
        found = [problem for problem in map(checked, map(Path, words)) if problem]
    print("\n".join(found) or f"{len(words)} notebooks do what they say")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
