"""Names of what the program knows, for completion: importing the things themselves takes too long.

Written by `make docs`.
"""

KNOWN = {
    "metrics": ["Accuracy", "LabelP", "LabelR", "LabelF", "BalancedAccuracy", "MCC", "Kappa", "SpanP", "SpanR", "SpanF",
        "SpanPartialP", "SpanPartialR", "SpanPartialF", "SpanOverlapP", "SpanOverlapR", "SpanOverlapF", "SetP", "SetR",
        "SetF", "BLEU", "chrF", "TER", "METEOR", "ROUGE", "WER", "CER", "Mean", "MAE", "RMSE", "Perplexity",
        "BitsPerCharacter", "Formula", "JudgedMean", "P", "AP", "gm_map", "nDCG", "RR", "Rprec", "bpref", "ERR", "R",
        "Success", "set_P", "set_recall", "set_F", "set_map", "set_relative_P", "IPrec", "11pt_avg", "num_rel_ret",
        "Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "AllTags", "Lemmas", "UAS", "LAS", "CLAS", "MLAS",
        "BLEX", "PlainUAS", "PlainLAS", "AER", "AlignmentP", "AlignmentR", "Pearson", "Spearman", "Kendall",
        "Recorded"],
    "readers": ["labels", "bio", "spans", "lines", "texts", "wmt-xml", "sgml", "nbest", "responses", "multilabel",
        "candidates", "scores", "mtme", "statistics", "judged", "logprobs", "trec", "conllu", "pharaoh", "naacl"],
    "importers": ["wide", "long", "lm-eval", "inspect", "helm", "swe-bench", "every-eval-ever", "eval-arena", "mteb",
        "plain"],
    "platforms": ["codabench"],
    "tests": ["permutation", "bootstrap", "sign", "mcnemar", "wilcoxon", "t", "fisher", "two-sample-t", "binomial-z",
        "chi-squared", "rank-sum", "williams", "steiger", "response-permutation", "crossed", "prediction-powered",
        "bounded"],
    "corrections": ["holm", "gatekeeping", "shaffer", "bonferroni", "hochberg", "bh", "by", "min-p", "max-t", "none"],
}
