"""Shared tasks as organisers live through them, told step by step; tests and other scenarios go on from them."""
