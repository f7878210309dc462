class StructuredOutputsParams:
    def __init__(self, *, json: str) -> None:
        self.json = json
