"""The words dialect tables are written in; nothing here knows a product."""
