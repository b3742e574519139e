"""The paper's comparison of searches, on its data sets and models, and whatever a researcher adds to it."""
