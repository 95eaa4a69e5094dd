"""Values that flow between parts, the protocol of each kind of part, and the registry; numpy only."""
