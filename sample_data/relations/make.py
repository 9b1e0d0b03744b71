"""Write the sample task "relations": the example of Yeh 2000, section 3.3, response by response.

Two methods look for modifier relations, of which there are 103. Both find 19 of them, only method I finds 28, only
method II 6; both give 5 spurious ones, only I gives 43, only II 9. The paper does not say in which texts they stand, so
every relation and every spurious response is an item of its own.

    python sample_data/relations/make.py
"""

import json
from pathlib import Path

HERE = Path(__file__).parent
ANSWER = "modifies"
# who gives it, how many of the 103 relations, how many spurious responses
COUNTS = (({"I", "II"}, 19, 5), ({"I"}, 28, 43), ({"II"}, 6, 9), (set(), 50, 0))


def main() -> None:
    """Write gold and submissions beside this file."""
    right = [givers for givers, relations, _ in COUNTS for _ in range(relations)]
    spurious = [givers for givers, _, wrong in COUNTS for _ in range(wrong)]
    items = [(f"relation-{n:03}", True, givers) for n, givers in enumerate(right, start=1)]
    items += [(f"spurious-{n:02}", False, givers) for n, givers in enumerate(spurious, start=1)]
    _write("gold.jsonl", [(key, in_gold) for key, in_gold, _ in items])
    for method in ("I", "II"):
        _write(f"submissions/{method}.jsonl", [(key, method in givers) for key, _, givers in items])


def _write(name: str, answers: list[tuple[str, bool]]) -> None:
    path = HERE / name
    path.parent.mkdir(exist_ok=True)
    lines = [json.dumps({"item": key, "answers": [ANSWER] if given else []}) for key, given in answers]
    path.write_bytes("".join(line + "\n" for line in lines).encode())


if __name__ == "__main__":
    main()
