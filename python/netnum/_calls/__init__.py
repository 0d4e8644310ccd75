"""Calls of one function on any executor: sweeps, and batches of problems."""
