"""Pages of tasks as single HTML files, and a site with an index and a feed.

A page shows all leaderboards of a task, their pairs, and the items on which submissions disagree most. It needs no
network and no other file, except on a site: there, files next to the page have the pairs of large leaderboards
(`pair_files`). Small scripts draw the data, which are a JSON element. A content-security policy allows only these
scripts, by their hashes, so the name of a system cannot run as code.
"""

from registry.reports.page.html import page, pair_file, pair_files
from registry.reports.page.site import Card, card, feed, site_index

__all__ = ["Card", "card", "feed", "page", "pair_file", "pair_files", "site_index"]
