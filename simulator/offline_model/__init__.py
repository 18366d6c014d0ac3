"""The offline model: an OpenAI-compatible endpoint that answers by rules."""
