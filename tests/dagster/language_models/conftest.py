# The stand-in must not become the "vllm" of this process.
collect_ignore = ["fake_vllm"]
