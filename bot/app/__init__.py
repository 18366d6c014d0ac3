"""The composition root: builds the parts from the settings and runs them."""
