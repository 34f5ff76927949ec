"""The satellites: our own agent, the adapters for frameworks, the test kit, the live stage and the warm server. They
use the core; the core never imports them, and works without any of them."""
