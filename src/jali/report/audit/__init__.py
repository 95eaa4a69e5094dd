"""The report of an audit: the plain page, the evidence, the method; a table for a terminal."""
