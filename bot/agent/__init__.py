"""The agent: context, tools, the functions-based loop and the model."""
