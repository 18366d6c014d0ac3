"""What `mnemogram doctor` looks at: each check is bounded in time and stops none of the others."""
