"""The only writers of anyhook's own files: approvals, settings, switches, plans, installs."""
