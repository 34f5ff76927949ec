"""The words that agents are written in; nothing here knows a product."""
