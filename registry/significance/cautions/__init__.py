"""What is said of pairs of systems: a null hypothesis that does not hold, unlike runs, a judge that favours one."""
