"""Benchmarks: speed against other implementations, growth, load, and a fuzz test against brute force."""
