"""Skill phrases to skills, and skills to slices."""
