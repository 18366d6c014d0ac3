"""Files of messages: pictures for a model that sees, recordings as transcripts, documents as text."""
