"""Everything with a side effect, injected: files, models, clocks and the environment."""
