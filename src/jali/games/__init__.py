"""Membership designs: who is in which training set, one file each."""
