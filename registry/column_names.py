"""Usual names of columns, by which `quick`, `new`, `agreement` and `evaluate` recognise the roles of columns.

Only its name decides the role of a column, never its values. Names are compared by their words, so `sampleId`,
`Sample ID` and `meta.sample_id` are the same name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Literal

Role = Literal["item", "part", "gold", "answer", "label", "score", "text", "given", "system", "run", "group", "meta",
               "document", "annotator", "rating", "other"]

_ROLES: dict[Role, str] = {
    # What names an item.
    "item": "item items item_id id ids idx index uid uuid guid key no nr number name qid query query_id question_id "
            "example example_id example_idx instance instance_id sample sample_id sample_idx sentence_id sent_id "
            "segment_id seg_id topic topic_id tweet_id row_id pair_id problem_id case_id case docid doc_id doc "
            "document document_id word1 word2 sentence1 sentence2 text1 text2",
    # What names an item together with a column that numbers items within it.
    "part": "benchmark dataset subset task test_set category domain language lang split document doc doc_id docid "
            "document_id page word1 word2 sentence1 sentence2 text1 text2",
    # The right label, number or text.
    "gold": "gold golds gold_label gold_score gold_text golden truth true true_label ground_truth groundtruth gt "
            "y_true y_test target target_text targets actual actuals actual_label annotated_label expected reference "
            "references reference_summary ref refs answer answers correct_answer correct_label human_score human_label "
            "highlights",
    # What a system says.
    "answer": "prediction predictions pred preds predicted predicted_label pred_label pred_text y_pred output outputs "
              "response responses completion completions generation generations generated generated_text hypothesis "
              "hypotheses hyp hyps mt decoded system_output model_output model_answer transcription transcript answer "
              "answers",
    # Kinds of values.
    "label": "label labels class gold_label true_label pred_label predicted_label correct_label y_true y_pred tag",
    "score": "score scores gold_score value rating similarity result",
    "text": "text reference references ref refs reference_summary summary translation transcription transcript "
            "hypothesis hyp mt sentence gold_text target_text pred_text generated_text highlights",
    # What systems are given; never an answer.
    "given": "source src input inputs input_text prompt question context passage article story dialogue instruction "
             "conversation code title comment comments explanation notes reason",
    # What names a system in a table with a row for each item and system.
    "system": "system system_id system_name model model_id model_name team team_id team_name submission submission_id "
              "participant method approach algorithm agent classifier solver",
    # What numbers the runs of a system: rows that repeat an item.
    "run": "run seed epoch fold rep repeat repetition replicate trial iteration attempt random_seed completion_id "
           "run_id",
    # What divides rows into boards of their own: tasks, splits, metrics, settings of systems.
    "group": "task task_name benchmark dataset dataset_name subset test_set split usage phase metric "
             "metric_name measure criterion aspect dimension n_shots num_fewshot temperature prompt_template "
             "filter variant checkpoint",
    # What describes items or their annotation, and is no system.
    "meta": "difficulty hardness complexity level grade annotator rater judge coder worker expert human crowd majority "
            "majority_vote consensus agreement confidence certainty probability prob weight importance frequency freq "
            "genre age gender readability entropy date timestamp month day",
    # What names the person (or program) that rated an item, in a table with a row for each item and annotator.
    "annotator": "annotator annotator_id annotator_name rater rater_id coder coder_id judge judge_id worker worker_id "
                 "assessor assessor_id expert expert_id participant_id user user_id voter voter_id login",
    # What an annotator says.
    "rating": "rating ratings value label labels score scores annotation judgment judgement category class grade code "
              "answer response",
    # What headers of labels have besides; no role follows from these.
    "other": "category type value stance tweet names sent",
    # What names a document, whose items are not independent.
    "document": "document doc doc_id docid document_id",
}
ROLES: dict[Role, tuple[str, ...]] = {role: tuple(names.split()) for role, names in _ROLES.items()}
USUAL = frozenset(name for names in ROLES.values() for name in names)

_HIGHER = frozenset((
    "acc", "accuracy", "ap", "auc", "bleu", "chrf", "comet", "correct", "em", "exact", "f", "f1", "map", "meteor",
    "mrr", "ndcg", "p", "pass", "precision", "r", "recall", "reward", "right", "rouge", "success", "win", "wins"))
_LOWER = frozenset((
    "aer", "cer", "cost", "distance", "err", "error", "errors", "latency", "loss", "mae", "mse", "nll", "perplexity",
    "ppl", "rmse", "ter", "time", "wer"))
_MEASURES = _HIGHER | _LOWER | {
    "bertscore", "bleurt", "dice", "iou", "kappa", "mcc", "r1", "r2", "rank", "rl", "rouge1", "rouge2", "rougel",
    "top1", "top5", "winrate"}
_WITH_MEASURES = frozenset(("average", "avg", "exact", "k", "l", "length", "lsum", "macro", "match", "mean", "micro",
                            "rate", "score", "weighted"))
_SIZES = frozenset((
    "chars", "count", "duration", "elapsed", "examples", "instances", "latency", "len", "length", "line", "ms", "n",
    "num", "runtime", "sec", "seconds", "size", "support", "time", "tokens", "words", "year"))


def normalize(name: str) -> str:
    """Convert a column name to lower case, with words joined by underscores.

    >>> [normalize(name) for name in ("sampleId", "# ID", "Ground truth", "meta.sample-id", "y_true")]
    ['sample_id', 'id', 'ground_truth', 'sample_id', 'y_true']
    """
    last = re.split(r"\.(?=[A-Za-z_])", name.strip())[-1]
    separated = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", last)
    return "_".join(re.findall(r"[^\W_]+", separated.casefold()))


def has_role(name: str, *roles: Role) -> bool:
    """Guess from the name of a column whether it has one of several roles.

    `has_role("y_true", "gold")` is True, because columns of this name usually contain the gold.
    """
    form = normalize(name)
    return any(form in ROLES[role] for role in roles)


def find_columns(names: Sequence[str], role: Role, among: Collection[str] | None = None) -> list[str]:
    """Return the column names that are typical of a role, such as `gold`.

    The most usual name comes first.

    Args:
        names: The column names.
        role: The role.
        among: The only names that may be returned; None for no such limit.
    """
    usual_names = ROLES[role]
    usual = [name for name in names if normalize(name) in usual_names and (among is None or name in among)]
    return sorted(usual, key=lambda name: usual_names.index(normalize(name)))


def guess_directions(name: str) -> set[str]:
    """Guess from a column name whether higher or lower scores are better.

    >>> guess_directions("macro_F1"), guess_directions("wer.csv"), guess_directions("aspen")
    ({'higher'}, {'lower'}, set())

    The result can also contain both.
    """
    words = _words(name)
    return {better for better, known in (("higher", _HIGHER), ("lower", _LOWER)) if words & known}


def is_measure(name: str) -> bool:
    """Return True if a column name consists of words for evaluation measures.

    >>> [name for name in ("Rouge-L", "F1 (macro)", "top1_err", "aspen_f1", "aspen", "BLEU") if is_measure(name)]
    ['Rouge-L', 'F1 (macro)', 'top1_err', 'BLEU']
    """
    words = _words(name)
    return bool(words & _MEASURES) and words <= _MEASURES | _WITH_MEASURES


def is_size(name: str) -> bool:
    """Return True if a column name means a size, count or duration, and not a score.

    >>> [name for name in ("n_tokens", "time_ms", "aspen") if is_size(name)]
    ['n_tokens', 'time_ms']
    """
    words = set(re.findall("[a-z]+", name.casefold())) - {"average", "avg", "mean", "total"}
    return bool(words) and words <= _SIZES


def _words(name: str) -> set[str]:
    return set(re.findall(r"[a-z]+[0-9]?", name.casefold()))
