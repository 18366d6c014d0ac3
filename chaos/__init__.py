"""The fault lab: breaks the real product on purpose and prints what held."""
