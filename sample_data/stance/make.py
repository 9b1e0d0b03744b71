"""Write the sample task "stance": 400 items in 40 documents, 6 systems of 3 teams, all from one seed.

An item has a difficulty, part of which its document shares; a system answers rightly where its skill and some luck of
its own exceed the difficulty. So errors are correlated between systems and within documents, as in real tasks. One
system is clearly the best, and two of the same team differ in a handful of items only.

    python sample_data/stance/make.py
"""

import random
from pathlib import Path

HERE = Path(__file__).parent
LABELS = ("against", "favour", "none")
# team, system, skill; the last one is a retrained copy of the one before it
SYSTEMS = (
    ("Aspen", "aspen-large", 1.45),
    ("Aspen", "aspen-base", 0.85),
    ("Birch", "birch-crf", 0.70),
    ("Birch", "birch-svm", 0.55),
    ("Cedar", "cedar-1", 0.75),
    ("Cedar", "cedar-2", None),
)
RETRAINED_SHARE = 0.03


def main() -> None:
    """Write gold and submissions beside this file."""
    rng = random.Random(20270301)
    items = []
    for document in range(1, 41):
        shared = rng.gauss(0, 0.5)
        for n in range(1, 11):
            gold = rng.choices(LABELS, weights=(4, 3, 3))[0]
            items.append((f"d{document:02}-{n:02}", gold, f"d{document:02}", shared + rng.gauss(0, 0.7)))
    lines = ["item\tlabel\tdocument", *(f"{key}\t{gold}\t{document}" for key, gold, document, _ in items)]
    _write("gold.tsv", lines)

    def answer(gold: str, right: bool) -> str:
        return gold if right else rng.choice([label for label in LABELS if label != gold])

    answers: list[str] = []
    for team, system, skill in SYSTEMS:
        if skill is None:
            answers = [answer(gold, rng.random() < 0.5) if rng.random() < RETRAINED_SHARE else old
                       for (_, gold, _, _), old in zip(items, answers, strict=True)]
        else:
            answers = [answer(gold, skill + rng.gauss(0, 0.7) > difficulty) for _, gold, _, difficulty in items]
        rows = [f"{key}\t{given}" for (key, *_), given in zip(items, answers, strict=True)]
        rng.shuffle(rows)  # lines in another order: items are aligned by key
        _write(f"submissions/{team}.{system}.tsv", rows)


def _write(name: str, lines: list[str]) -> None:
    path = HERE / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes("".join(line + "\n" for line in lines).encode())


if __name__ == "__main__":
    main()
