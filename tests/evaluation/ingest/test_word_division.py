"""Texts whose words are not what the metric takes for words are warned of, or get the tokenizer of their script."""

import pytest

import registry
from registry.metrics.texts import choose_tokenizer, compute_latin_share, count_tokenized

CHINESE = ["今天又下雨了。", "我喜欢吃苹果。", "他明天去北京。"] * 4
TEXTS = {
    "Chinese": (CHINESE, "zh"), "Japanese": (["また雨が降っている。", "林檎が好きです。"] * 6, "char"),
    "Thai": (["ฝนตกอีกแล้ว", "ฉันชอบแอปเปิ้ล"] * 6, "char"),
    "Burmese": (["မိုးရွာနေပြန်ပြီ", "ပန်းသီးကြိုက်တယ်"] * 6, "char"),
    "Khmer": (["ភ្លៀងទៀតហើយ", "ខ្ញុំចូលចិត្តផ្លែប៉ោម"] * 6, "char"),
    "Lao": (["ຝົນຕົກອີກແລ້ວ", "ຂ້ອຍມັກຫມາກໂປມ"] * 6, "char"),
    "Korean": (["비가 또 온다 .", "나는 사과를 좋아한다 ."] * 6, None),
    "Russian": (["опять идёт дождь", "я люблю яблоки"] * 6, None)}
UNDIVIDED = "the gold's script has no blanks between words"


def shorten(texts):
    """Leave out the second character of every text."""
    return [text[:1] + text[2:] for text in texts]


def remarks(texts, metric, system=None):
    board = registry.evaluate(texts, {"a": system or shorten(texts), "b": texts[::-1]}, metric=metric)
    return board, [remark for remark in board.messages if "the gold" in remark and "swaps" not in remark]


@pytest.mark.parametrize("script", TEXTS)
def test_bleu_has_the_tokenizer_of_the_script(script):
    """The score is sacrebleu's own with the same tokenizer."""
    import sacrebleu

    texts, tokenizer = TEXTS[script]
    assert choose_tokenizer(texts) == tokenizer
    board, told = remarks(texts, "BLEU")
    expected = sacrebleu.corpus_bleu(shorten(texts), [texts], tokenize=tokenizer or "13a", force=True).score
    assert board.scores["a"] == pytest.approx(expected)
    assert not any(UNDIVIDED in one for one in told)
    if tokenizer:
        assert expected > 20 > sacrebleu.corpus_bleu(shorten(texts), [texts], force=True).score


@pytest.mark.parametrize(("metric", "remedy"), [
    ("BLEU(tokenize=13a)", "use BLEU(tokenize=zh)"), ("BLEU(tokenize=intl)", "use BLEU(tokenize=zh)"),
    ("TER", "use CER, chrF, or BLEU"), ("WER", "use CER"), ("chrF++", "remove the option"),
    ("ROUGE(tokenize=whitespace)", "use ROUGE(tokenize=characters)"), ("chrF", None), ("CER", None),
    ("ROUGE(tokenize=characters)", None)])
def test_metrics_of_words_warn_of_a_script_without_blanks(metric, remedy):
    _, told = remarks(CHINESE, metric)
    assert told == [] if remedy is None else len(told) == 1
    if remedy is not None:
        assert told[0].startswith("warning: the gold: metric ")
        assert UNDIVIDED in told[0]
        assert remedy in told[0]


def test_rouge_warns_where_it_leaves_out_most_letters():
    """Nepali: identical texts score 0."""
    nepali = ["पानी फेरि पर्‍यो", "मलाई स्याउ मन पर्छ"] * 6
    board, told = remarks(nepali, "ROUGE", nepali)
    assert board.scores["a"] == 0.0
    assert any("100% of the letters in the gold are not a to z, and ROUGE ignores them" in one for one in told)
    board, told = remarks(nepali, "ROUGE(tokenize=whitespace)", nepali)
    assert board.scores["a"] == 1.0
    assert not any("letters" in one for one in told)
    assert not any("letters" in one for one in remarks(["il pleut à nouveau", "où êtes-vous"] * 6, "ROUGE")[1])


def test_shares_and_counts_by_hand():
    assert compute_latin_share(["abc дождь"]) == 3 / 8
    assert compute_latin_share(["12 ."]) == 1.0
    assert count_tokenized(["It rains .", "Does it ?", "It does.", "e . g . this", ".", ""]) == (3, 2)


def test_a_tokenized_system_is_named_beside_a_gold_that_is_not():
    plain = [f"the {word} sat on a mat, again." for word in ("cat", "dog", "fox", "hen", "cow", "ant")]
    split = [text.replace(".", " .").replace(",", " ,") for text in plain]
    board = registry.evaluate(plain, {"plain": shorten(plain), "split": split}, metric="BLEU")
    (told,) = [one for one in board.messages if "tokenized" in one]
    assert told.startswith("warning: system 'split': 6 of 6 sentences have a space before the full stop")
    both = registry.evaluate(split, {"plain": shorten(plain), "split": shorten(split)}, metric="BLEU")
    (told,) = [one for one in both.messages if "tokenize" in one]
    assert "metric BLEU: the gold seems to be tokenized already, but BLEU tokenizes texts again" in told


def test_a_manifest_keeps_its_metric_and_warns(tmp_path, registry):
    for name, texts in (("gold", CHINESE), ("a", shorten(CHINESE)), ("b", CHINESE[::-1])):
        (tmp_path / f"{name}.txt").write_text("".join(f"{text}\n" for text in texts))
    (tmp_path / "task.toml").write_text("\n".join([
        "manifest = 1", "[task]", 'id = "t"', "[[test_set]]", 'name = "test"', 'gold = "gold.txt"', 'format = "lines"',
        "[[metric]]", 'name = "BLEU"', "[significance]", "seed = 1",
        *(f'[[submit]]\nfile = "{name}.txt"\nsystem = "{name}"' for name in "ab")]))
    done = registry("run", "task.toml", "--format", "json")
    assert done.stderr.count(f"gold.txt: metric BLEU: {UNDIVIDED}") == 1
    assert done.json[0]["score"] == 0.0
    checked = registry("check", "task.toml")
    assert f"gold.txt: metric BLEU: {UNDIVIDED}" in checked.stderr + checked.stdout
