"""What anyhook costs, as ratios against a floor or a peer measured in the same run. Tests never assert any of it."""
