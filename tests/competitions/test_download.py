"""Submissions that were downloaded from Codabench go into the task that they are of."""

import csv
import io
import json
import random
import stat
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from registry.store.database import Database
from tests.label_tasks import second_test_set

BEGIN = datetime(2027, 1, 1, 12, tzinfo=UTC)
COLUMNS = ("Submission ID", "File Name", "Owner", "Created When", "Status", "Phase")


def zipped(files):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return held.getvalue()


class Competition:
    """What organisers download of a made-up competition: `add` submits, `write` gives the files."""

    def __init__(self, phase="test"):
        self.phase, self.rows, self.files = phase, [], {}

    def add(self, owner, files, *, hours=1, status="Finished", number=None, phase=None, leads=False):
        number, at = number or 1000 + len(self.rows), BEGIN + timedelta(hours=hours, minutes=len(self.rows))
        name = f"{number}_{owner}_PhaseId77_{at:%Y-%m-%d:%M-%S}_prediction.zip".replace(":", "_")
        self.files[name] = zipped(files)
        self.rows.append({"id": number, "filename": "prediction.zip", "owner": owner, "status": status,
                          "created_when": f"{at:%Y-%m-%dT%H:%M:%S.%fZ}", "phase_name": phase or self.phase,
                          "parent": None, "on_leaderboard": leads})
        return number

    def write(self, folder):
        """The downloaded archive, the list as CSV and as JSON, and the leaderboard as CSV."""
        (folder / "bulk_submissions.zip").write_bytes(zipped(self.files))
        with (folder / "submissions.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            writer.writerows([of["id"], of["filename"], of["owner"], of["created_when"], of["status"], of["phase_name"]]
                             for of in self.rows)
        (folder / "submissions.json").write_text(json.dumps(self.rows))
        (folder / "board.csv").write_text("Username,fact_sheet_answers,test(1)-acc\n" + "".join(
            f"{of['owner']}-{of['id']},,0.5\n" for of in self.rows if of["on_leaderboard"]))
        return folder / "bulk_submissions.zip"


@pytest.fixture
def bring(registry, tmp_path):
    def run(competition, *options, exit_code=0, task="small"):
        given = [part for option in options for part in ("--option", option)]
        return registry("import", "codabench", competition.write(tmp_path), "--task", task, *given, exit_code=exit_code)

    return run


def answers(task, wrong=()):
    return "".join(f"{k}\t{'yes' if (v == 'no') == (k in wrong) else 'no'}\n" if k in wrong else f"{k}\t{v}\n"
                   for k, v in task.gold.items())


def stored():
    with Database(Path("registry.duckdb")).reading() as connection:
        return connection.exec_driver_sql("""
            SELECT team.name AS team, version, late, attributes, test_set.name AS test_set FROM submission
            JOIN system USING (system_id) JOIN team USING (team_id) JOIN test_set USING (test_set_id)
            WHERE attributes LIKE '%codabench%' ORDER BY submission_id""").all()


def filled(task, n_submissions, n_participants):
    """A competition in which every tenth submission failed and every twelfth came late.

    Gives it, the number of each participant's last submission with its right answers, and how many are late.
    """
    competition, drawn, last, n_late = Competition(), random.Random(3), {}, 0
    for n in range(n_submissions):
        owner, failed, late = f"team_{n % n_participants}", n % 10 == 7, n >= n_submissions * 11 // 12
        wrong = drawn.sample(sorted(task.gold), n % 4)
        number = competition.add(owner, {"out.tsv": answers(task, wrong) if not failed else "?"},
                                 hours=40 if late else 1, status="Failed" if failed else "Finished")
        if not failed:
            last[owner] = number, 6 - len(wrong)
            n_late += late
    return competition, last, n_late


def test_a_download_goes_into_its_task(scored, task, registry, bring):
    """Of 60 submissions; `python -m tests.scenarios.codabench` brings in 300."""
    task.extra = "[[metric]]\nid = 'f1'\nname = 'LabelF'\n"
    task.test_set = {"deadline": "DEADLINE"}
    manifest = task.write()
    manifest.write_text(manifest.read_text().replace('"DEADLINE"', "2027-01-03T00:00:00Z"))
    scored(manifest)
    competition, last, n_late = filled(task, 60, 13)
    said = bring(competition, "submissions=submissions.csv").stderr
    assert "6 submissions are left out, because the platform did not score them" in said
    there = stored()
    assert len(there) == 54
    assert sum(row.late for row in there) == n_late > 0
    assert json.loads(there[0].attributes) == {"codabench": 1000, "submitted": "2027-01-01T13:00:00Z"}
    registry("score", "small")
    with Database(Path("registry.duckdb")).reading() as connection:
        board = {row.team: (int(row.version), round(row.score * 6)) for row in connection.exec_driver_sql(
            "SELECT r.team, r.version, s.score FROM ranked_submission r JOIN submission_score s "
            "ON s.submission = r.name WHERE s.metric = 'acc' AND r.team LIKE 'team%'")}
    assert board == last
    assert "nothing changed" in bring(competition, "submissions=submissions.csv").stderr


def test_what_is_taken(scored, task, bring):
    task.extra = second_test_set("gold.tsv", "file = 'systems/a.tsv'\nsystem = 'a'").replace(
        'columns = ["item", "label"]', 'columns = ["item", "label", "document"]')
    task.extra += 'options = { columns = ["item", "label"] }\n'
    manifest = task.write()
    manifest.write_text(manifest.read_text().replace(
        'file = "systems/{system}.tsv"', 'file = "systems/{system}.tsv"\ntest_set = "test"'))
    scored(manifest)
    good = answers(task)
    competition = Competition("dev, test")
    first = competition.add("elm", {"dev.tsv": good, "test.tsv": good}, leads=True)
    second = competition.add("elm", {"dev.tsv": good, "sub/test.txt": good})
    third = competition.add("oak", {"__MACOSX/._dev": "x", "dev.tsv": good, "test.tsv": good}, leads=True)
    bring(competition, "submissions=submissions.json", "take=leaderboard")
    assert {(row.team, int(row.version), row.test_set) for row in stored()} == {
        ("elm", first, "dev"), ("elm", first, "test"), ("oak", third, "dev"), ("oak", third, "test")}
    assert "nothing changed" in bring(competition, "submissions=submissions.csv", "take=leaderboard",
                                      "leaderboard=board.csv").stderr
    bring(competition, "submissions=submissions.csv", "take=latest")
    assert {int(row.version) for row in stored()} == {first, second, third}
    alone = Competition("Final")
    alone.add("ash", {"x.tsv": good})
    assert "is not a test set of the task" in bring(alone, "submissions=submissions.csv", exit_code=3).stderr
    bring(alone, "test_set=dev")
    assert json.loads(stored()[-1].attributes) == {"codabench": 1000, "submitted": "2027-01-01"}
    assert "no submission of phase" in bring(alone, "submissions=submissions.csv", "phase=Finale", exit_code=3).stderr


def test_hostile_downloads_are_refused_and_leave_nothing(scored, task, bring, registry, tmp_path):
    scored(task)
    good = answers(task)

    def refused(told, files, *options, names=None, change=lambda held: held):
        competition = Competition()
        competition.add("elm", files)
        if names is not None:
            competition.files = {name: zipped(files) for name in names}
        competition.files = dict(map(change, competition.files.items()))
        said = bring(competition, *options, exit_code=3).stderr
        assert told in said, said
        assert stored() == []

    refused("in the archive points outside", {"../../a.tsv": good})
    refused("in the archive points outside", {"a.tsv": good}, names=["../1_e_PhaseId7_2027-01-01_01-01_x.zip"])
    refused("is not of the platform's form", {"a.tsv": good}, names=["x.zip"])
    refused("is not a valid date", {"a.tsv": good}, names=["1_e_PhaseId7_2027-99-01_01-01_x.zip"])
    refused("2 files", {"a.tsv": good, "b.tsv": good})
    refused("not a zip file", {"a.tsv": good}, change=lambda held: (held[0], b"PK\3\4 no"))
    refused("it has no answer", {"a.tsv": good[6:]})
    link = zipfile.ZipInfo("a.tsv")
    link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    refused("has a link", {link: "/etc/passwd"})
    for name, text, told in (
            ("a.csv", "Submission ID,Owner\n1,e\n", "no column 'Created When'"),
            ("b.csv", ",".join(COLUMNS) + "\n1,x.zip,e,2027-01-01T00:00:00Z,Finished,test\n", "lacks the downloaded"),
            ("c.csv", ",".join(COLUMNS) + "\n1000,x.zip,e,yesterday,Finished,test\n", "is not a date"),
            ("d.csv", ",".join(COLUMNS) + "\n1000\n", "fewer cells"),
            ("i.csv", ",".join(COLUMNS) + "\n1000,x.zip,../e,2027-01-01T00:00:00Z,Finished,test\n", "contains '/'"),
            ("e.json", "[" * 100_000, "not JSON"), ("f.json", '[{"id": NaN}]', "no key"),
            ("g.json", '{"results": 7}', "neither a list"), ("h.csv", "", "is empty")):
        (tmp_path / name).write_text(text)
        refused(told, {"a.tsv": good}, f"submissions={name}")
    refused("the submissions on the leaderboard are unknown", {"a.tsv": good}, "take=leaderboard")
    assert "--task" in registry("import", "codabench", tmp_path / "bulk_submissions.zip", exit_code=3).stderr
