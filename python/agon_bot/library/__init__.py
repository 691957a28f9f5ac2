"""The modules that bots of the original competitions import, under every name they used for them."""
