-- What stands in items, and what submissions that take part say of them, as texts: the sources, references and outputs of
-- translations and other generated text, and the words of sentences beside their spans or parses. The texts are in the
-- files that were read, which table source keeps compressed: `registry query`, `registry serve` and `registry.open`
-- unpack them for each question that names this view, and to other programs it is an error. Of tasks whose files have
-- labels, scores or keys alone, as imported results of language models have, no text was brought in: the prompts and
-- responses stay in their logs, and there is no row. One row per submission, run and item, also where a run says nothing.
--
-- task: the task's id
-- test_set: the test set's name
-- item: the item's key
-- position: the item's place in the gold, from 0
-- source: what systems were given: the text to translate, or the words of the sentence; NULL where it was not brought in
-- gold: what the gold says: the first reference, or answers as in view item_output; NULL where it has none
-- golds: all references by their names, the first one as gold; NULL where the gold is no text
-- team: the team's name
-- system: the system's name
-- version: of the system, as submitted
-- replicate: the run of the system, counted from 0
-- output: what the system says, a text or answers as in view item_output; NULL where it says nothing
-- scoring_id: names the submission's responses
-- item_id: the item
WITH unpacked AS (
    SELECT error('item_text: its texts are in compressed files, which `registry query` unpacks and SQL cannot') AS why
    FROM gold_revision
)
SELECT
    NULL::VARCHAR AS task,
    NULL::VARCHAR AS test_set,
    NULL::VARCHAR AS item,
    NULL::INTEGER AS position,
    NULL::VARCHAR AS source,
    NULL::VARCHAR AS gold,
    NULL::MAP(VARCHAR, VARCHAR) AS golds,
    NULL::VARCHAR AS team,
    NULL::VARCHAR AS system,
    NULL::VARCHAR AS version,
    NULL::SMALLINT AS replicate,
    NULL::VARCHAR AS output,
    NULL::INTEGER AS scoring_id,
    NULL::INTEGER AS item_id
FROM unpacked
WHERE why IS NOT NULL
