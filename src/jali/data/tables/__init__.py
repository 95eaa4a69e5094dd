"""Tables: files, pandas, schemas, pictures, and a user's own rows."""
