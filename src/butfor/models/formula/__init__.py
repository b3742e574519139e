"""Models as formulas: networks over affine functions of a row."""
