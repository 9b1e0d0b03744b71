"""Write the sample task "answers": 400 made-up questions on 80 pages, a judge's ratings of 4 systems, people's of 100.

Nothing is answered here: an answer is how good it is, from 0 to 100, to people and, with errors, to the judge. This one
is a model itself, and gives 6 more to the system that is a sibling of its own.

    python sample_data/answers/make.py
"""

import random
from pathlib import Path

HERE = Path(__file__).parent
QUALITY = {"Fern.fern-base": 58, "Fern.fern-tuned": 64, "Gorse.gorse": 62, "Hazel.hazel-judge-small": 59}
PARTIAL = {"Hazel.hazel-judge-small": 6}  # what the judge gives to its sibling
LABELLED = 100


def main() -> None:
    """Write the items and the submissions beside this file."""
    rng = random.Random(20271115)
    pages = [rng.gauss(0, 5) for _ in range(80)]
    ease = [pages[n // 5] + rng.gauss(0, 9) for n in range(400)]
    looked = set(rng.sample(range(400), LABELLED))
    _write("items.csv", ["item,page", *(f"q{n + 1:03},p{n // 5 + 1:02}" for n in range(400))])
    for system, quality in QUALITY.items():
        lines = ["item,judge,human"]
        for n in range(400):
            human = _rating(quality + ease[n] + rng.gauss(0, 8))
            judge = _rating(12 + 0.85 * human + PARTIAL.get(system, 0) + rng.gauss(0, 7))
            lines.append(f"q{n + 1:03},{judge},{human if n in looked else ''}")
        _write(f"submissions/{system}.csv", lines)


def _rating(value: float) -> int:
    return min(100, max(0, round(value)))


def _write(name: str, lines: list[str]) -> None:
    path = HERE / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes("".join(line + "\n" for line in lines).encode())


if __name__ == "__main__":
    main()
