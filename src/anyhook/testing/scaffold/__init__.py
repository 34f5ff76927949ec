"""`anyhook new`: a working hook out of a dialect's rows. Nothing here knows a product."""
