"""What ollama-kit promises about speed and size, measured: `python -m benchmarks [NAME…]`, or `make bench`.

A benchmark is a module of this package with a docstring, whose first line is its title, and

    def run() -> Iterable[str]: ...

which yields the lines to print, each as soon as it is known. Figures of a busy machine are noisy, so what is compared
is measured in turns (`benchmarks.timing.in_turns`), and medians and their ratio are shown beside the target; nothing
here passes or fails. What causes the speed is pinned by tests instead: see tests/test_imports.py.
"""
