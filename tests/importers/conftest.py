"""What wrote the logs of other programs imports these programs, so that it is no module of tests."""

collect_ignore_glob = ["*_logs/*", "*_reports/*"]
