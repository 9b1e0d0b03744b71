"""The pages' modules in node: style, types, unit tests, current bundles, numbers and cells that equal Python's."""

import json
import random
import subprocess

import pytest

from registry.rendering.render import render
from registry.rendering.table import Table, format_p_value, format_percent, make_number_format
from tests.conftest import PACKAGE, ROOT
from tests.needs import need

SCRIPTS = PACKAGE / "reports" / "page" / "scripts"
BUNDLES = PACKAGE / "reports" / "page" / "bundles"
CELLS = ["=1+1", '"=1+1"', "@x", "+A1", "-A1", "\t=1", "\r=1", "x\r=1", "-", "-٣", "-0.5-cmd|'x'!A0", "-1e", "-0.5",
         "+3", "-1e-5", "-.5", "3-4", "Aspen", "", "a,b", 'a"b', "a\nb", -1, None]


@pytest.fixture
def node():
    """Run node, with programs of `npm ci` if their folder is named; skips without them."""
    def run(*arguments, package=None, script=None):
        need("node")
        need("node modules", there=package is None or (ROOT / "node_modules" / package).is_dir())
        done = subprocess.run(["node", *map(str, arguments)], cwd=ROOT, input=script,
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.fixture
def evaluate(node):
    """Give what an expression over the names of a module is, as JSON."""
    def value(module, names, expression):
        script = f'import {{ {names} }} from "{(SCRIPTS / module).as_uri()}"; console.log(JSON.stringify({expression}))'
        return json.loads(node("--input-type=module", script=script))

    return value


@pytest.mark.slow
def test_modules_have_style_and_types(node):
    node("node_modules/eslint/bin/eslint.js", ".", package="eslint")
    node("node_modules/typescript/bin/tsc", "--project", "tests/javascript/tsconfig.json", package="typescript")


def test_unit_tests_pass(node):
    node("--test", *sorted((ROOT / "tests" / "javascript").glob("*.test.js")))


def test_bundles_are_those_of_the_modules(node, tmp_path):
    node("tests/javascript/bundle.js", tmp_path, package="esbuild")
    for built in tmp_path.iterdir():
        assert built.read_text("utf-8") == (BUNDLES / built.name).read_text("utf-8"), "run: make js"


def some_numbers():
    """Shares, differences and large scores at random, ties of every number of decimals, and neighbours of limits."""
    draw = random.Random(1)
    ties = [n / 2**k for k in range(1, 9) for n in range(-40, 41) if n]
    spread = [draw.uniform(-1, 1) * 10.0 ** draw.randint(-8, 6) for _ in range(3000)]
    return [0.0, *ties, *spread, *(n / 10_000 for n in range(-300, 300) if n), *(n / 20_000 for n in range(1, 300))]


@pytest.mark.parametrize("decimals", range(7))
def test_numbers_are_those_of_python(evaluate, decimals):
    values = some_numbers()
    found = evaluate("numbers.js", "fixed", f"{json.dumps(values)}.map(value => fixed(value, {decimals}))")
    assert [text.replace("−", "-") for text in found] == [make_number_format(decimals)(value) for value in values]


def test_p_values_and_shares_are_those_of_python(evaluate):
    draw = random.Random(2)
    p = [0.0, 1.0, 0.001, 0.00099999, 0.99995, 0.9999499, 0.99999, 0.999995, 0.9999999, 5e-324, 2**-5, 3 / 32,
         *(10.0 ** draw.uniform(-12, 0) for _ in range(3000)), *(draw.random() for _ in range(3000)),
         *(n / 2**k for k in range(1, 12) for n in range(1, 2**k, 2))]
    assert evaluate("numbers.js", "pValue", f"{json.dumps(p)}.map(pValue)") == [format_p_value(value) for value in p]
    shares = evaluate("numbers.js", "percent", f"{json.dumps(p)}.map(percent)")
    assert [share.replace("\u00a0", " ") for share in shares] == [format_percent(value) for value in p]


def test_downloads_have_the_cells_of_the_command_line(evaluate):
    """Both are opened in spreadsheets."""
    expected = [render([Table([{"k": "k", "v": value}])], "csv").partition("\nk,")[2][:-1] for value in CELLS]
    assert evaluate("values.js", "csvCell", f"{json.dumps(CELLS)}.map(csvCell)") == expected
