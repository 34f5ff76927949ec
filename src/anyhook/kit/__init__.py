"""The test kit: hooks fired at a throw-away copy of a project, and what came of it compared with what was expected."""
