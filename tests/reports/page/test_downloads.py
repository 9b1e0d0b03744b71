"""The download button writes the CSV of the command line, because both are opened in spreadsheets."""

import json
import subprocess
from pathlib import Path

import registry
from registry.rendering.render import render
from registry.rendering.table import Table
from tests.needs import need

SCRIPT = Path(registry.__file__).parent / "reports" / "page" / "scripts" / "downloads.js"
VALUES = ["=1+1", '"=1+1"', "@x", "+A1", "-A1", "\t=1", "\r=1", "x\r=1", "-", "-٣", "-0.5-cmd|'x'!A0", "-1e", "-0.5",
          "+3", "-1e-5", "-.5", "3-4", "Aspen", "", "a,b", 'a"b', "a\nb", -1, None]


def test_the_button_writes_cells_as_the_command_line_does():
    need("node")
    script = f"{SCRIPT.read_text()}\nconsole.log(JSON.stringify({json.dumps(VALUES)}.map(csvCell)))"
    done = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True)
    expected = [render([Table([{"k": "k", "v": value}])], "csv").partition("\nk,")[2][:-1] for value in VALUES]
    assert json.loads(done.stdout) == expected
