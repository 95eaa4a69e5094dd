"""What private trainers and explainers share: noise, clipping, optimisers, recourse, checks."""
