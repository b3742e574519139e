"""Explaining many rows as a job: from files to files, on one machine or many."""
