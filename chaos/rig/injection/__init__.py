"""Injections: what is said to harm, a model that obeys everything, tools that tell where they ran, and who says what."""
