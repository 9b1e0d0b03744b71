"""What openapi.json says (OpenAPI 3.1): every address with its parameters, and the schema of what is answered."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from registry.query.schema import Thing
from registry.reports.columns import MESSAGE, board_schema, pairs_schema
from registry.serving.answers.forms import MEDIA
from registry.serving.answers.parameters import AT, Parameter
from registry.serving.endpoint import Endpoint
from registry.serving.sql import FORMS
from registry.serving.tables import BOARD_LIST_KEYS, SUBMISSION_KEYS, TABLES, TASK_KEYS
from registry.version import __version__

Json = dict[str, Any]

_CONVERTED = re.compile(r"\{(\w+):(\w+)\}")
_TEXT, _WHOLE, _NUMBER, _TRUE = ({"type": of} for of in ("string", "integer", "number", "boolean"))
_OTHERS = {"seed": _WHOLE, "test_sets": _WHOLE, "submissions": _WHOLE, "board": _WHOLE, "alpha": _NUMBER,
           "items": _WHOLE, "units": _WHOLE, "systems": _WHOLE, "pairs": _WHOLE, "withdrawn": _TRUE, "late": _TRUE,
           "ranked": _TRUE, "primary": _TRUE, "sentences": {"type": "array", "items": _TEXT},
           "footnotes": {"type": "array", "items": _TEXT},
           "warnings": {"type": "array", "items": MESSAGE}, "better": {"enum": ["higher", "lower"]}}
_OR_NULL = ("track", "facet", "date", "deadline", "licence", "url")
_ANY = {"type": "object", "required": ["task", "test_set", "item"]}
_PATH = {"task": "a task's id", "board": "the number of a leaderboard", "item": "an item's id"}
_PROBLEM: Json = {
    "type": "object", "required": ["status", "title", "detail"],
    "properties": {"status": _WHOLE, "title": _TEXT, "detail": {**_TEXT, "description": "what is wrong, what to do"},
                   "excerpt": {**_TEXT, "description": "the line of a query with a caret below what is wrong"}}}
PAGES = {
    "/": "the index of all leaderboards", "/feed.xml": "what changed, as an Atom feed",
    "/tasks/{task}": "a task's page",
    "/tasks/{folder}/{board}/{place}.js": "the pairs of one system that a page has no room for",
}
SQL_PARAMETERS = (Parameter("q", "one SELECT or EXPLAIN; `$name` in it stands for the parameter `$name`"),
                  Parameter("format", "as which; else what the header Accept asks for, else json", choices=FORMS))


def description(things: Sequence[Thing]) -> Json:
    """The whole of it, from what any registry of this version holds."""
    schemas = {
        "task": _object(TASK_KEYS), "metric": _object(("id", "name", "better", "primary")),
        "board": _object(BOARD_LIST_KEYS), "standing": board_schema(things)["items"],
        "pair": pairs_schema(things)["items"], "submission": _object(SUBMISSION_KEYS), "item": _ANY, "output": _ANY,
        "problem": _PROBLEM}
    paths = {_CONVERTED.sub(r"{\1}", table.path): {"get": _of_table(table)} for table in TABLES}
    pages = {path: {"get": _of_page(path, about)} for path, about in PAGES.items()}
    return {
        "openapi": "3.1.0",
        "info": {"title": "evalregistry", "version": __version__, "description": (
            "A registry of shared tasks, read-only. Every answer has an ETag, which is another one as soon as the "
            "registry changes; rows come as JSON, JSON Lines, CSV and TSV.")},
        "paths": {**pages, **paths, "/sql": {"get": _of_sql(), "post": _of_posted_sql()}},
        "components": {"schemas": schemas},
    }


def _object(keys: Sequence[str]) -> Json:
    return {"type": "object", "additionalProperties": False, "required": list(keys), "properties": {
        key: {"type": ["string", "null"]} if key in _OR_NULL else _OTHERS.get(key, _TEXT) for key in keys}}


def _of_table(table: Endpoint) -> Json:
    headers = {"X-Total-Count": {"description": "how many rows there are", "schema": _WHOLE}}
    if table.paged:
        headers["Link"] = {"description": "where the first, previous, next and last rows are, of the same state "
                                          "(RFC 8288)", "schema": _TEXT}
    rows = {"type": "array", "items": {"$ref": f"#/components/schemas/{table.schema}"}}
    content = {MEDIA[form].partition(";")[0]: {"schema": rows if form == "json" else _TEXT}
               for form in ("json", "jsonl", "csv", "tsv")}
    statuses = {"304": "not changed since", "400": "a parameter is wrong", "403": "hidden for now, or not shown here",
                "404": "there is none", "503": "the registry is busy"}
    statuses |= {"410": "the registry has changed since the state that was named"} if table.paged else {}
    return {"summary": table.about, "parameters": [*_of_path(table.path), *map(_of, table.all_parameters)],
            "responses": {"200": {"description": table.about, "headers": headers, "content": content},
                          **_problems(statuses)}}


def _of_page(path: str, about: str) -> Json:
    form = {"js": "text/javascript", "xml": "application/atom+xml"}.get(path.rpartition(".")[2], "text/html")
    parameters = [*_of_path(path), *([_of(AT)] if path == "/tasks/{task}" else [])]
    return {"summary": about, "parameters": parameters, "responses": {
        "200": {"description": about, "content": {form: {"schema": _TEXT}}},
        **_problems({"304": "not changed since", "404": "there is none"})}}


def _of_sql() -> Json:
    about = "the rows of a query, or a page to write one on; POST takes a form, JSON with q, format and params, or SQL"
    return {"summary": about, "parameters": list(map(_of, SQL_PARAMETERS)), "responses": {
        "200": {"description": about, "content": {MEDIA[form].partition(";")[0]: {"schema": (
            {"type": "array", "items": {"type": "object"}} if form == "json" else _TEXT)} for form in FORMS}},
        **_problems({"400": "it is refused", "403": "SQL is not answered here", "422": "it goes beyond a limit",
                     "503": "too many queries are waiting"})}}


def _of_posted_sql() -> Json:
    asked = {"type": "object", "required": ["q"], "properties": {
        "q": _TEXT, "format": {"enum": list(FORMS)}, "params": {"type": "object"}}}
    known = {key: value for key, value in _of_sql().items() if key != "parameters"}
    return known | {"requestBody": {"required": True, "content": {
        "application/json": {"schema": asked}, "application/x-www-form-urlencoded": {"schema": asked},
        "text/plain": {"schema": _TEXT}}}}


def _of_path(path: str) -> list[Json]:
    return [{"name": name, "in": "path", "required": True, "description": _PATH.get(name, name),
             "schema": _WHOLE if name in ("board", "place") else _TEXT} for name in re.findall(r"\{(\w+)", path)]


def _of(parameter: Parameter) -> Json:
    return {"name": parameter.name, "in": "query", "description": parameter.about, "schema": parameter.schema}


def _problems(statuses: dict[str, str]) -> Json:
    problem = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/problem"}}}
    return {status: {"description": about, **({} if status == "304" else {"content": problem})}
            for status, about in sorted(statuses.items())}
