"""Attacks on registries: what somebody else altered, hid or tried to read."""
