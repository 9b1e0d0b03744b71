"""Write votes of 40 voters on answers of six systems to 60 questions: `python make.py`.

Two systems are nearly equally good. Voters have their own preferences, and some vote ten times as often as others. The
answer that is shown first has an advantage. Every seventh vote is a tie.
"""

import json
import math
import random
from pathlib import Path

STRENGTHS = {"aspen-chat": 0.75, "birch-chat": 0.6, "cedar-chat": 0.15, "dogwood-chat": -0.1, "elm-chat": -0.45,
             "fir-chat": -0.95}
FIRST = 0.2  # advantage of the answer that is shown first, in log odds
VOTES = 1500

rng = random.Random(20261129)
voters = [f"v{n:02}" for n in range(1, 41)]
questions = [f"q{n:02}" for n in range(1, 61)]
tastes = {(group, system): rng.gauss(0, 0.35) for group in (*voters, *questions) for system in STRENGTHS}
shares = [10 if n < 6 else 1 for n in range(len(voters))]
rows = []
for _ in range(VOTES):
    first, second = rng.sample(list(STRENGTHS), 2)
    (voter,), question = rng.choices(voters, shares), rng.choice(questions)
    a, b = (STRENGTHS[system] + tastes[voter, system] + tastes[question, system] for system in (first, second))
    wins = rng.random() < 1 / (1 + math.exp(b - a - FIRST))
    kind = rng.random()
    winner = "tie" if kind < 0.1 else "tie (bothbad)" if kind < 0.14 else "model_a" if wins else "model_b"
    rows.append({"question_id": question, "model_a": first, "model_b": second, "winner": winner, "judge": voter,
                 "language": "English" if int(question[1:]) % 3 else "German"})
Path(__file__).with_name("votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
