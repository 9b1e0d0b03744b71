"""What comparisons found, as the command line writes it."""

RAW = ("submission_a", "submission_b", "difference", "p_value", "log10_p", "ci_low", "ci_high", "n_units",
       "n_discordant", "method")


def pairs(registry, *options):
    return registry("pairs", *options, "--format", "json").json


def raw(registry, *options):
    return sorted([row[k] for k in RAW] for row in pairs(registry, *options))
