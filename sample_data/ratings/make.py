"""Write ratings of translations by eight annotators, who did not all rate the same: `python make.py`.

Each annotator rates some of five systems on some of 24 documents. The annotators differ in severity, and the two most
lenient ones rated much of the fourth system: its raw mean is too high.
"""

import csv
import random
from pathlib import Path

QUALITY = {"alder-mt": 82, "beech-mt": 80, "cypress-mt": 75, "dogwood-mt": 71, "elder-mt": 64}
SEVERITY = {"ann-1": 9, "ann-2": 8, "ann-3": 1, "ann-4": 0, "ann-5": -3, "ann-6": -4, "ann-7": -5, "ann-8": -6}
DOCUMENTS, SEGMENTS = 24, 4

rng = random.Random(20261130)
tastes = {(annotator, system): rng.gauss(0, 1.5) for annotator in SEVERITY for system in QUALITY}
rows = []
for document in range(1, DOCUMENTS + 1):
    suits = {system: rng.gauss(0, 2.5) for system in QUALITY}
    for segment in range(1, SEGMENTS + 1):
        ease = rng.gauss(0, 6)
        for system in rng.sample(list(QUALITY), 4):
            lenient = system == "dogwood-mt" and rng.random() < 0.6
            annotator = rng.choice(list(SEVERITY)[:2] if lenient else list(SEVERITY))
            score = (QUALITY[system] + SEVERITY[annotator] + tastes[annotator, system] + suits[system] + ease
                     + rng.gauss(0, 6))
            rows.append([system, f"d{document:02}-{segment}", f"d{document:02}", annotator,
                         max(0, min(100, round(score)))])
with Path(__file__).with_name("ratings.csv").open("w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([["system", "segment", "document", "annotator", "score"], *rows])
