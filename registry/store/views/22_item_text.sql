-- Items and the outputs of current submissions, as texts: the sources, references and outputs of
-- translations and other generated text, and the words of sentences beside their spans or parses. The texts are in the
-- files that were read, which table source keeps compressed: `registry query`, `registry serve` and `registry.open`
-- unpack them for each question that names this view, and to other programs it is an error. Of tasks whose files have
-- labels, scores or keys alone, as imported results of language models have, no text was brought in: the prompts and
-- responses stay in their logs, and there is no row. One row per submission, run and item, also where a run says nothing.
--
-- task: id of the task
-- test_set: name of the test set
-- item: key of the item
-- position: place of the item in the gold, from 0
-- source: input of the systems: the text to translate, or the words of the sentence; NULL if it was not ingested
-- gold: the gold: the first reference, or answers as in the view item_output; NULL if it has none
-- golds: all references by name, the first one as gold; NULL if the gold is not a text
-- team: name of the team
-- system: name of the system
-- version: version of the submission
-- replicate: number of the system's run, from 0
-- output: output of the system: a text, or answers as in the view item_output; NULL if it gives none
-- scoring_id: id of the submission's responses
-- item_id: id of the item
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
