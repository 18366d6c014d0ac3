"""The prompt: assembled, fitted to the window, with a receipt."""
