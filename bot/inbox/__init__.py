"""The durable inbox: every accepted update until its terminal state."""
