"""difflab: experiments with small Differential Transformers.

The package carries the programs `difflab` and `difflab-worker` of this version, their configurations
and the committed results. `difflab` on the command line is `difflab.__main__.main`.
"""

from importlib.metadata import version

__version__ = version("difflab")
