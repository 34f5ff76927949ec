"""Install: add our entry to agents' own config files and remove it, without touching anything else there."""
