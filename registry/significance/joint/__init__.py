"""Scores of systems that are estimated together, from votes or ratings.

An estimator returns `estimates.JointEstimates`: scores, and the influence of every observation on them. Covariances,
tests, intervals and rank sets follow from the influences, for any estimator.
"""
