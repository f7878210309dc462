"""Claims about which model is better at what, with what they rest on."""
