"""Whether the page of other programs is of the calls that are declared; the programs are no part of the tests."""

from tests.validity.bands import LEVELS, kept
from tests.validity.peers.__main__ import HEADER, PAGE, main
from tests.validity.peers.calls import calls
from tests.validity.record import recorded


def test_the_page_has_the_declared_calls():
    page, _ = recorded(PAGE.read_text(), HEADER)
    declared = {(null.name, call.program, f"`{call.said}`"): (f"{call.runs:,}", call.what)
                for call in calls() for null in call.on}
    assert {line[:3]: line[3:5] for line in page}.items() <= declared.items()
    for line in page:
        assert line[-1] == kept(float(line[5]), int(line[3].replace(",", "")), LEVELS.get(line[4], 0.05)), line[:3]


def test_what_is_not_installed_is_left_out(capsys):
    assert main(["evalregistry", "--null", "lognormal*", "--share", "0.001", "--processes", "1"]) == 0
    found = capsys.readouterr()
    assert "csranks, coin: " in found.err
    assert [line.split(" | ")[1] for line in found.out.splitlines()[2:]] == ["evalregistry"]
