"""Speed against peers, as ratios of one run."""
