"""Is a privacy claim true? Neighbouring data sets, many draws of each, and what tells them apart."""
