"""Everything for testing hooks: the test kit, conformance vectors, and the scaffolding of new hooks."""
