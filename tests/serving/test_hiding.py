"""What is hidden is not served: names of an anonymous task, and scores in a blind phase."""

import pytest

from tests.publication.secret_task import SYSTEMS, hits

ADDRESSES = (
    "/", "/tasks/small", "/api/tasks", "/api/tasks/small/boards", "/api/tasks/small/boards/0/standings",
    "/api/tasks/small/boards/0/pairs", "/api/tasks/small/submissions", "/api/tasks/small/items",
    "/api/tasks/small/items/i3", "/api/tasks/small/metrics", "/sql?q=FROM leaderboard", "/sql?q=FROM event",
    "/sql?q=FROM system", "/sql?q=FROM submission_source", "/openapi.json",
    "/api/tasks/small/boards/0/pairs?system=Zephyrine", "/sql?q=FROM registry.main.team", "/sql?q=FROM secret_team")


def asked(client, addresses=ADDRESSES):
    return {address: client.get(address).text.replace(address, "") for address in addresses}


@pytest.mark.slow
def test_no_name_of_an_anonymous_task_is_served_before_it_is_revealed(registry, scored, task, served):
    task.systems = dict(zip(SYSTEMS, task.systems.values(), strict=False))
    task.extra = "[board]\nanonymous = true\n"
    scored(task)
    client = served(items=3)
    found = asked(client)
    found["/api/tasks/small/boards/0/pairs?system=Zephyrine"] = ""  # says again what it was asked for
    assert not {address: hits(text) for address, text in found.items() if hits(text)}
    assert "Team " in found["/tasks/small"]
    tag = client.get("/tasks/small").headers["etag"]
    registry("reveal", "small")
    client.renew()
    revealed = client.get("/tasks/small", headers={"If-None-Match": tag})
    assert (revealed.status_code, bool(hits(revealed.text))) == (200, True)


@pytest.mark.slow
def test_no_score_is_served_in_a_blind_phase(registry, scored, task, served):
    """One of the systems has 5 of 6 right."""
    scored(task)
    client = served()
    assert "0.8333" in client.get("/tasks/small").text
    registry("hide", "small", "--scores", "--until", "2999-12-01T12:00:00Z")
    client.renew()
    texts = {address: client.get(address) for address in ADDRESSES}
    assert not [address for address, answer in texts.items() if "0.833" in answer.text]
    page, rows = texts["/tasks/small"], texts["/api/tasks/small/boards/0/standings"]
    assert (page.status_code, rows.status_code) == (200, 403)
    for told in (page.text, rows.json()["detail"], texts["/"].text):
        assert "hidden until 2999-12-01 12:00 UTC" in told
    assert texts["/sql?q=FROM leaderboard"].json() == []
    assert "hidden until" in texts["/sql?q=FROM leaderboard"].headers["x-note"]
    registry("reveal", "small", "--scores")
    client.renew()
    assert "0.8333" in client.get("/tasks/small").text
