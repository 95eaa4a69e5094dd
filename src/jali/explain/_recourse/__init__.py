"""What searches for recourse share: legal rows, boxes, steps and samples."""
