"""Which boards there are, what each of them is called, and what is said under it."""

from tests.evaluation.comparing.compared import pairs


def test_tracks_and_facets_are_families_of_their_own(many, registry):
    many.test_set = {"facets": ["document"]}
    many.documents = {k: "odd" if n % 2 else "even" for n, k in enumerate(many.gold)}
    s0 = many.systems.pop("s0")
    many.extra = '[[submit]]\nfile = "open.tsv"\nsystem = "open"\ntrack = "open"\n'
    many.write()
    (many.folder / "open.tsv").write_text("".join(f"{k}\t{v}\n" for k, v in s0.items()))
    registry("run", many.manifest)
    board = registry("board", "--format", "json").json
    places = {(r["track"], r["facet"]): sum(q["track"] == r["track"] and q["facet"] == r["facet"] for q in board)
              for r in board}
    assert places == {(t, f): 8 if t is None else 1 for t in (None, "open")
                      for f in (None, "document=even", "document=odd")}
    half = [k for k in many.gold if many.documents[k] == "odd"]
    (row,) = [r for r in board if r["system"] == "s8" and r["facet"] == "document=odd"]
    assert row["score"] == sum(many.systems["s8"][k] == many.gold[k] for k in half) / len(half)
    assert {r["family_size"] for r in pairs()} == {28}


def test_baselines_are_shown_unranked_when_the_board_says_so(task, registry):
    task.extra = ('[[submit]]\nfile = "base.tsv"\nsystem = "base"\nkind = "baseline"\n'
                  "[board]\nrank_baselines = false\n")
    task.write()
    (task.folder / "base.tsv").write_text("".join(f"{k}\t{v}\n" for k, v in task.gold.items()))
    registry("run", task.manifest)
    board = registry("board", "--format", "json").json
    assert [(r["system"], r["rank"], r["rank_high"]) for r in board] == [
        ("base", None, None), ("a", 1, 3), ("b", 2, 3), ("c", 2, 3)]
    assert "-" in registry("board", "--format", "table").stdout


def test_signature_identifies_the_comparison(task, undone):
    registry = undone(task)
    signature = registry.boards[0].signature
    assert signature.startswith("acc|task:small@1|set:test|n:6/3c|gold:")
    assert "|test:permutation-exact|seed:-|corr:holm/3|a:.05|v:" in signature
    others = []
    for option in ({"alpha": 0.01}, {"unit": "item"}, {"alternative": "greater", "candidate": "a"}, {"test": "sign"}):
        registry.compare(**option)
        others.append(registry.boards[0].signature)
    assert "|n:6|" in others[1]
    assert "|test:permutation-exact|alt:greater|" in others[2]
    assert len({signature, *others}) == 5


def test_an_exact_comparison_has_the_same_identity_under_every_seed(task, registry):
    """The line that a paper prints must come out again elsewhere; exact tests draw nothing."""
    signatures = set()
    for seed in ({"seed": 1}, {"seed": 2, "resamples": 177}, {}):
        task.significance = seed or {"alpha": 0.05}
        registry("run", task.write(), "--db", f"{len(signatures)}{len(seed)}.duckdb")
        signatures.add(registry("board", "--db", f"{len(signatures)}{len(seed)}.duckdb", "--format", "json")
                       .json[0]["signature"])
    assert len(signatures) == 1


def test_boards_that_are_no_more_are_not_shown(many, registry, scored):
    """Tracks, facets and test sets come and go with the manifest; what a board showed stays in the database."""
    many.test_set = {"facets": ["document"]}
    many.documents = {k: f"d{n % 2}" for n, k in enumerate(many.gold)}
    scored(many)
    assert {r["facet"] for r in registry("board", "--format", "json").json} == {None, "document=d0", "document=d1"}
    many.test_set = {"name": "renamed"}
    board = registry("run", many.write(), "--format", "json").json
    assert {(r["test_set"], r["facet"]) for r in board} == {("renamed", None)}
    assert len(board) == 9
    assert registry("board").stderr == ""
    many.test_set = {"facets": ["document"]}
    again = registry("run", many.write(), "--format", "json").json
    assert len(again) == 27
    many.submission = {"track": "closed"}
    moved = registry("run", many.write(), "--format", "json").json
    assert {r["track"] for r in moved} == {"closed"}
    assert registry("board").stderr == ""


def test_a_single_system_has_a_board_and_no_pairs(task, registry, scored):
    task.systems = {"a": task.systems["a"]}
    scored(task)
    assert "nothing to compare" in registry("board", "--format", "table").stdout
    assert registry("pairs", "--format", "json").json == []


def test_too_few_units_for_any_significance_are_told(task, registry, scored):
    scored(task)
    assert "smallest possible p-value with 3 clusters is 0.25" in registry("board", "--format", "table").stdout
    registry("compare", "--unit", "item")
    assert "smallest possible p-value with 6 items is 0.03125" in registry("board", "--format", "table").stdout


def test_one_of_a_thing_is_not_told_in_the_plural(task, undone):
    task.documents = dict.fromkeys(task.gold, "d0")
    del task.systems["c"]
    registry = undone(task)
    registry.compare(unit="cluster", overall="friedman")
    told = " ".join(registry.boards[0].sentences)
    assert "Tested at 5 %: permutation over 1 cluster." in told
    assert "with 1 degree of freedom" in told
    assert "smallest possible p-value with 1 cluster is 1;" in told
