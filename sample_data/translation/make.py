"""Write the sample task "translation": 120 segments in 12 documents, two references, 4 systems, all from one seed.

A segment is a sentence of a small grammar with a choice of wording; the references are two independent wordings, the
systems others that err more or less: they take a word of another meaning, lose one, or swap neighbours.

    python sample_data/translation/make.py
"""

import random
from pathlib import Path

HERE = Path(__file__).parent
SLOTS = {
    "who": [
        ["The teacher", "The instructor"],
        ["My neighbour", "My neighbor"],
        ["The young doctor", "The young physician"],
        ["Our old friend", "An old friend of ours"],
        ["The captain", "The skipper"],
        ["Her sister", "Her sibling"],
    ],
    "did": [
        ["bought", "purchased"],
        ["repaired", "fixed"],
        ["found", "discovered"],
        ["sold", "gave away for money"],
        ["described", "talked about"],
        ["painted", "put fresh paint on"],
    ],
    "what": [
        ["the little boat", "the small boat"],
        ["a wooden house", "a house of wood"],
        ["the broken clock", "the clock that was broken"],
        ["an expensive carpet", "a costly rug"],
        ["the garden wall", "the wall of the garden"],
        ["three books", "three volumes"],
    ],
    "when": [
        ["yesterday", "the day before today"],
        ["last summer", "in the past summer"],
        ["before the storm", "ahead of the storm"],
        ["early in the morning", "at daybreak"],
        ["after a long journey", "when the long trip was over"],
    ],
    "why": [
        ["because the money was needed", "since money was needed"],
        ["although nobody had asked for it", "even though no one had asked"],
        ["to surprise the children", "as a surprise for the children"],
        ["without telling anyone", "and told nobody"],
    ],
}
ERRORS = {"north-large": 0.04, "north-small": 0.13, "harbour": 0.12, "pocket": 0.30}  # per word


def main() -> None:
    """Write references, documents and submissions beside this file."""
    rng = random.Random(20270601)
    segments = [[rng.choice(choices) for choices in SLOTS.values()] for _ in range(120)]
    words = sorted({word for slots in SLOTS.values() for choice in slots for text in choice for word in text.split()})
    _write("documents.txt", [f"d{n // 10 + 1:02}" for n in range(120)])
    for name in ("A", "B"):
        _write(f"reference.{name}.txt", [_wording(rng, segment, 0.35 if name == "A" else 0.6) for segment in segments])
    for system, rate in ERRORS.items():
        _write(f"submissions/{system}.txt",
               [_stumble(rng, _wording(rng, segment, 0.45), rate, words) for segment in segments])


def _wording(rng: random.Random, segment: list[list[str]], second: float) -> str:
    return " ".join(choice[rng.random() < second] for choice in segment) + "."


def _stumble(rng: random.Random, text: str, rate: float, words: list[str]) -> str:
    given: list[str] = []
    for word in text.removesuffix(".").split():
        slip = rng.random()
        if slip < rate / 3:
            continue
        given.append(rng.choice(words) if slip < 2 * rate / 3 else word)
        if len(given) > 1 and 2 * rate / 3 <= slip < rate:
            given[-2:] = given[-1], given[-2]
    return " ".join(given or ["Yes"]) + "."


def _write(name: str, lines: list[str]) -> None:
    path = HERE / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes("".join(line + "\n" for line in lines).encode())


if __name__ == "__main__":
    main()
