"""The page of a reproduction: published claims beside ours, with figures."""
