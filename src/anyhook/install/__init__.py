"""Install: our entry in agents' own config files, put in and taken out without touching anything else there."""
