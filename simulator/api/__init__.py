"""The local Bot API and the page's own API."""
