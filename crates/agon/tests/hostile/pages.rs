//! What people read: the collection's own page.
