"""Write the sample task "entities": 600 sentences in 40 documents, 8 systems of 4 teams, all from one seed.

Sentences are filled from patterns. Every entity has a difficulty, part of which its document and its kind share, so
systems stumble over the same ones, as in real tasks. A system finds an entity where its skill and some luck exceed the
difficulty; where it fails it misses the entity, cuts it short, or calls it by another type, and now and then it finds
one where there is none. One system is clearly the best, four are too close to tell apart, and two are nearly the same.

    python sample_data/entities/make.py
"""

import random
from pathlib import Path

HERE = Path(__file__).parent
NAMES = {
    "person": (["Ada", "Boris", "Chiara", "Dimitri", "Elif", "Farid", "Greta", "Hana", "Ivo", "Jun"],
               ["Almeida", "Brandt", "Costa", "Duarte", "Eriksen", "Fontaine", "Grigore", "Hoang", "Ito", "Jansen"]),
    "place": (["North", "Lake", "Upper", "New", "Port"],
              ["Arvika", "Belmora", "Cestina", "Dorven", "Elmstad", "Fenwick", "Garda", "Holm", "Istra"]),
    "company": (["Orion", "Delta", "Nordic", "Blue", "Alpine", "Vega", "Coral"],
                ["Shipping", "Foods", "Motors", "Systems", "Airlines", "Mills", "Bank"]),
}
PATTERNS = [
    "{person} moved from {place} to {place} last year .", "The mayor of {place} met {person} on Monday .",
    "{company} opens a new office in {place} .", "Shares of {company} fell after {person} resigned .",
    "{person} and {person} founded {company} in {place} .", "It rained in {place} for the whole week .",
    "Nobody at {company} wanted to comment .", "The old bridge near {place} will be closed in spring .",
    "According to {person} , prices will rise again .", "Farmers protested against {company} in front of the station .",
    "The committee has not decided yet .", "Two trains were late because of the snow .",
    "{person} plays the cello , {person} sings .", "Flights of {company} from {place} were cancelled .",
]
HARDER = {"person": -0.3, "place": 0.0, "company": 0.35}
# team, system, skill, spurious entities per sentence; the last one is another run of the one before it
SYSTEMS = (
    ("Aspen", "aspen-xl", 1.75, 0.02), ("Aspen", "aspen-s", 0.62, 0.05),
    ("Birch", "birch-crf", 0.58, 0.04), ("Birch", "birch-lstm", 0.66, 0.06),
    ("Cedar", "cedar-rules", -0.25, 0.03), ("Cedar", "cedar-mix", 0.60, 0.05),
    ("Dogwood", "dogwood-a", 0.20, 0.05), ("Dogwood", "dogwood-b", None, 0.05),
)
RERUN_SHARE = 0.04

Span = tuple[int, int, str]


def main() -> None:
    """Write gold and submissions beside this file."""
    rng = random.Random(20270501)
    sentences = [sentence for n in range(1, 41) for sentence in _document(rng, n)]
    _write("gold.conll", [(key, document, tokens, spans) for key, document, tokens, spans, _ in sentences])
    found: list[list[Span]] = []
    for team, system, skill, spurious in SYSTEMS:
        if skill is None:
            found = [_answer(rng, s, 0.2, spurious) if rng.random() < RERUN_SHARE else old
                     for s, old in zip(sentences, found, strict=True)]
        else:
            found = [_answer(rng, s, skill, spurious) for s in sentences]
        _write(f"submissions/{team}.{system}.conll",
               [(key, None, tokens, spans) for (key, _, tokens, _, _), spans in zip(sentences, found, strict=True)])


def _document(rng: random.Random, n: int) -> list[tuple[str, str, list[str], list[Span], list[float]]]:
    document, shared = f"d{n:02}", rng.gauss(0, 0.4)
    sentences = []
    for m in range(1, 16):
        tokens: list[str] = []
        spans, difficulties = [], []
        for part in rng.choice(PATTERNS).split():
            kind = part.strip("{}")
            if part == kind:
                tokens.append(part)
                continue
            name = [rng.choice(words) for words in NAMES[kind]]
            name = name[rng.randrange(2):] if kind != "company" else name
            spans.append((len(tokens), len(tokens) + len(name), kind))
            difficulties.append(shared + HARDER[kind] + rng.gauss(0, 0.8))
            tokens += name
        sentences.append((f"{document}-{m:02}", document, tokens, spans, difficulties))
    return sentences


def _answer(rng: random.Random, sentence: tuple[str, str, list[str], list[Span], list[float]], skill: float,
            spurious: float) -> list[Span]:
    _, _, tokens, gold, difficulties = sentence
    found: list[Span] = []
    for (start, end, kind), difficulty in zip(gold, difficulties, strict=True):
        if skill + rng.gauss(0, 0.6) > difficulty:
            found.append((start, end, kind))
            continue
        slip = rng.random()
        if slip < 0.3:
            found.append((start, end, rng.choice([k for k in NAMES if k != kind])))
        elif slip < 0.5 and end - start > 1:
            found.append((start, end - 1, kind))
    free = [n for n in range(len(tokens)) if all(not s <= n < e for s, e, _ in found + gold) and tokens[n].isalpha()]
    if free and rng.random() < spurious:
        at = rng.choice(free)
        found.append((at, at + 1, rng.choice(list(NAMES))))
    return sorted(found)


def _write(name: str, rows: list[tuple[str, str | None, list[str], list[Span]]]) -> None:
    lines = []
    for key, document, tokens, spans in rows:
        tags = ["O"] * len(tokens)
        for start, end, kind in spans:
            tags[start:end] = [f"B-{kind}", *[f"I-{kind}"] * (end - start - 1)]
        lines.append(f"# id = {key}")
        if document is not None:
            lines.append(f"# document = {document}")
        lines += [f"{token}\t{tag}" for token, tag in zip(tokens, tags, strict=True)]
        lines.append("")
    path = HERE / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes("".join(line + "\n" for line in lines).encode())


if __name__ == "__main__":
    main()
