"""What differentially private parts share: noise, clipping, optimisers, checks."""
