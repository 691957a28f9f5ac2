//! What keeps a bot from doing harm.
