"""The parts that the rows of the fault lab share."""
