"""`anyhook new`: a working hook from a dialect's rows. Nothing here knows a product."""
