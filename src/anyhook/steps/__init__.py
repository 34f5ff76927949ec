"""The corridor: one verb per file, plain values between them; no step imports another."""
