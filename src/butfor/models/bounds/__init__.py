"""Lower bounds on the score of many removal sets at once, as proofs need them."""
