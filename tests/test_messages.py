"""Messages about results: every text, and what is stored and shown of them."""

import inspect
import json
import re
from string import Formatter

import pytest

from registry.messages import BOARD_CODES, KINDS, NO_MESSAGES, Message, Messages, on_board
from tests.conftest import ROOT


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_text_is_made_of_the_declared_parameters(kind):
    text = str(Message(kind.code, kind.example))
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", kind.code)
    assert not text.endswith(".")
    assert len(re.findall(r"[.] [A-Z]", text)) <= 1  # at most two sentences
    used = ({name for _, name, _, _ in Formatter().parse(kind.text + kind.remedy) if name}
            if isinstance(kind.text, str) else set(inspect.signature(kind.text).parameters))
    assert kind.example.keys() <= used
    required = used if isinstance(kind.text, str) else {
        name for name, one in inspect.signature(kind.text).parameters.items() if one.default is one.empty}
    assert required <= kind.example.keys()


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_finding_names_no_command_and_no_option(kind):
    finding = Message(kind.code, kind.example).finding
    assert not re.search(r"`|--[a-z]|; (add|use|set|run|increase|have|write)\b", finding)
    assert finding.endswith(".")


def test_only_the_remedy_of_a_message_names_a_command():
    message = Message("few-units-ranks", {"units": 12, "least": 20, "method": "x; y --z", "is_judged": False})
    assert message.sentence == message.finding.removesuffix(".") + "; use --method holm."
    assert "x; y --z" in message.finding, "parameters are no remedy"


def test_every_code_of_the_program_is_declared_and_each_is_used():
    """Codes stand in calls of `Message` and `Messages.make`, in SQL, and in lists of codes."""
    words = {word for path in (ROOT / "registry").rglob("*") if path.suffix in (".py", ".sql")
             and path.name != "messages.py" for word in re.findall(r"""["']([a-z0-9]+(?:-[a-z0-9]+)+)["']""",
                                                                   path.read_text())}
    made = {code for path in (ROOT / "registry").rglob("*.py")
            for code in re.findall(r"""Messages?(?:\.of)?\(\s*"([a-z0-9-]+)\"""", path.read_text())}
    assert made <= KINDS.keys()
    assert KINDS.keys() <= words
    assert set(BOARD_CODES) <= KINDS.keys()


def test_what_is_stored_gives_the_message_back():
    messages = Messages((Message("few-units-ranks", {"units": 1, "least": 20, "method": "flips", "is_judged": False}),
                         Message("score-undefined")))
    assert Messages.load(messages.dump()) == messages
    assert json.loads(NO_MESSAGES.dump()) == []
    assert messages.codes == ("few-units-ranks", "score-undefined")
    assert "there is only 1 unit (at" in str(messages)


@pytest.mark.parametrize(("found", "text"), [
    (on_board(Message("not-normal"), 1, 1), "in the only pair, "),
    (on_board(Message("not-normal"), 6, 6), "in all 6 pairs, "),
    (on_board(Message("not-normal"), 1, 1000), "in 1 of 1,000 pairs, "),
    (on_board(Message("not-normal"), 1, 2).with_parameters(without_purged=True),
     "in 1 of 2 pairs without the purged team, "),
    (Message("not-normal", {"test_sets": ["dev", "test"]}), "dev, test: "),
    (Message("not-normal", {"submissions": list("abcdefg"), "run": 2}), "a, b, c, d, e and 2 more systems: run 2: "),
    (Message("not-normal", {"submissions": ["a"], "in_whole_test_set": True}), "a, in all items of the test set: ")])
def test_a_message_names_what_it_is_about(found, text):
    assert str(found) == text + str(Message("not-normal"))


def test_a_sentence_has_a_capital_and_an_end():
    assert Message("score-undefined").sentence == "A score is undefined."
    named = Message("unordered-rows", {"submissions": ["aspen"]})
    assert named.sentence == "aspen: its labels agree with the gold's no more than by chance."
