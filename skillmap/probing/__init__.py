"""Whether a model is of one mind about what a skill takes: skill probes.

``probes`` draws steps of rationales and has questions made of them, ``answers`` puts
those to the model that is tested, and ``judgements`` has the answers compared and
counts inconsistencies. Each stage builds calls and reads replies; sending is not done
here. A stage that fails leaves a probe failed, never inconsistent.
"""
