"""What users get: explanations, many of them, alternatives, rankings, trials."""
