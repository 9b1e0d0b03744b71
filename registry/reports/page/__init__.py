"""The page: one HTML file with all leaderboards of a task, their pairs and the items to look at; and a site of pages.

A page needs nothing but itself: no network, no other file. (On a site, the pairs of large leaderboards are in files
beside it: `pair_files`.) Its content is a JSON element (`data`), which small scripts
draw; a content-security policy lets only those run, by their hashes, so that no name of a system can (`templates`).
A site has an index of its pages (`site`) and a feed of what changed (`feed`).
"""

from registry.reports.page.html import page, pair_file, pair_files
from registry.reports.page.site import Card, card, feed, site_index

__all__ = ["Card", "card", "feed", "page", "pair_file", "pair_files", "site_index"]
