"""Options without a default, as an example of every metric and reader that has some."""

REQUIRED = {
    "Formula": {"formula": "2*tp / (pred + gold)"},
    "IPrec": {"recall": 0.1},
    "P": {"cutoff": 10},
    "R": {"cutoff": 10},
    "Success": {"cutoff": 10},
    "Recorded": {"of": "SpanF", "columns": ["tp", "pred", "gold"]},
    "bio": {"scheme": "iob2"},
    "candidates": {"item": ["noun", "verb"], "true": ["true", "1"]},
    "judged": {"drawn": "random"},
    "logprobs": {"base": "e"},
    "multilabel": {"labels": ["anger", "joy"]},
    "naacl": {"offset": 1},
    "pharaoh": {"offset": 0},
    "statistics": {"statistics": ["hits", "all"]},
}
