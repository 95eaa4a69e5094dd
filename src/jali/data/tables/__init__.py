"""Library for data sets: files, pandas tables, schema files, images, and the user's own rows."""
