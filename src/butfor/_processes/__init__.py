"""Calls in other processes, and objects that processes share."""
