"""BibTeX entries of the program and of the papers that describe its methods."""

from __future__ import annotations

from registry.version import __version__

_PROGRAM = f"""\
@software{{evalregistry,
  author  = {{{{The evalregistry developers}}}},
  title   = {{evalregistry: an evaluation registry for shared tasks}},
  version = {{{__version__}}},
  year    = {{2026}},
  note    = {{Scores, significance and leaderboards from per-item statistics}}
}}
"""
_METHODS = r"""
% Randomization tests, and the correlation of systems on one test set
@inproceedings{yeh-2000-accurate,
  title     = {More accurate tests for the statistical significance of result differences},
  author    = {Yeh, Alexander},
  booktitle = {COLING 2000 Volume 2: The 18th International Conference on Computational Linguistics},
  year      = {2000},
  pages     = {947--953},
  url       = {https://aclanthology.org/C00-2137/}
}

% Comparisons of two rankings, and precision of n-best lists
@inproceedings{evert-2004-significance,
  title     = {Significance tests for the evaluation of ranking methods},
  author    = {Evert, Stefan},
  booktitle = {COLING 2004: Proceedings of the 20th International Conference on Computational Linguistics},
  year      = {2004},
  pages     = {945--951},
  address   = {Geneva, Switzerland},
  url       = {https://aclanthology.org/C04-1136/}
}

% The paired bootstrap, the gain that a pair needs to be significant, and the size of test sets
@inproceedings{berg-kirkpatrick-etal-2012-empirical,
  title     = {An Empirical Investigation of Statistical Significance in {NLP}},
  author    = {Berg-Kirkpatrick, Taylor and Burkett, David and Klein, Dan},
  booktitle = {Proceedings of the 2012 Joint Conference on Empirical Methods in Natural Language Processing and Computational Natural Language Learning},
  year      = {2012},
  pages     = {995--1005},
  address   = {Jeju Island, Korea},
  url       = {https://aclanthology.org/D12-1091/}
}

% The choice of a test for a metric
@inproceedings{dror-etal-2018-hitchhikers,
  title     = {The Hitchhiker's Guide to Testing Statistical Significance in Natural Language Processing},
  author    = {Dror, Rotem and Baumer, Gili and Shlomov, Segev and Reichart, Roi},
  booktitle = {Proceedings of the 56th Annual Meeting of the Association for Computational Linguistics (Volume 1: Long Papers)},
  year      = {2018},
  pages     = {1383--1392},
  address   = {Melbourne, Australia},
  doi       = {10.18653/v1/P18-1128},
  url       = {https://aclanthology.org/P18-1128/}
}
"""  # noqa: E501


def format_citation() -> str:
    """Return BibTeX entries of this program and of the papers with its methods."""
    return _PROGRAM + _METHODS
