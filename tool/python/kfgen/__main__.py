"""Starts the compiler: python -m kfgen."""

from kfgen import main

main()
