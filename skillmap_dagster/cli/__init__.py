"""The command line: each command a few lines over the same functions as the assets."""
