"""What several searches use: proofs, prefixes of rankings, enumeration, and ways to improve an answer."""
