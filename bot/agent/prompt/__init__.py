"""The prompt: assembled, fitted to the window, with a record of its contents."""
