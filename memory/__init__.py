"""What a chat remembers: its history, recall and the selection of what goes into a prompt."""
