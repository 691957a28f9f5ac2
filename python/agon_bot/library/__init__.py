"""The modules that bots of the original competitions import. They can be imported under every name that bots use."""
