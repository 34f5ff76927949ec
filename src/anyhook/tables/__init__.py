"""The row types and functions that agents are described with; nothing here knows a product."""
