"""Figures for papers: leaderboards, pairs, and results of studies."""
