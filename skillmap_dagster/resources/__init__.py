"""Everything with a side effect, injected: files, models and the environment."""
