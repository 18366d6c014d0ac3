"""The console without stores."""
