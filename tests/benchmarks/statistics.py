"""BLEU statistics against sacrebleu's rate."""

import numpy as np
import sacrebleu.metrics

from registry.items import Answer, Item
from registry.metrics import BLEU
from tests.benchmarks.figures import Figure, paired

WORDS = [f"w{n}" for n in range(2000)]


def run():
    """Texts of random words; the references are read anew each time."""
    rng = np.random.default_rng(1)
    texts = [[" ".join(rng.choice(WORDS, 22)) for _ in range(2000)] for _ in range(2)]
    items = [Item(str(n), {"gold": text}) for n, text in enumerate(texts[0])]
    answers = [Answer(str(n), text) for n, text in enumerate(texts[1])]

    def ours():
        texts._make_engine.cache_clear()
        BLEU().corpus_statistics(items, answers)

    def peer():
        sacrebleu.metrics.BLEU(references=[texts[0]])._extract_corpus_statistics(texts[1], None)

    ours_s, peer_s, ratio = paired(ours, peer)
    return [Figure("BLEU statistics of 2,000 segments, references read anew", f"{2000 / ours_s:,.0f} segments/s",
                   f">= 0.9 of sacrebleu's {2000 / peer_s:,.0f}: {1 / ratio:.2f}", ratio <= 1 / 0.9)]
