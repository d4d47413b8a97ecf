"""The peer of bench/config: difflab's own configuration tree in a Hydra program.

usage: hydra_app.py --config-dir DIR [override...] [--cfg job]    prints the composed configuration
       hydra_app.py expand DIR RUNS                 seconds to compose that many runs, as --multirun
"""

import sys
import time

import hydra


@hydra.main(version_base="1.3", config_path=None, config_name="config")
def main(config):
    pass


def expand(folder, runs):
    """What Hydra's basic sweeper does before the first run: composes the configuration of each."""
    from hydra._internal.utils import create_config_search_path
    from hydra._internal.config_loader_impl import ConfigLoaderImpl
    from hydra.core.utils import setup_globals
    from hydra.types import RunMode
    from hydra import version

    version.setbase("1.3")
    setup_globals()
    loader = ConfigLoaderImpl(create_config_search_path(f"file://{folder}"))
    overrides = ["+experiment=headline"]
    begin = time.perf_counter()
    master = loader.load_configuration("config", overrides, RunMode.MULTIRUN)
    for seed in range(runs):
        loader.load_sweep_config(master, [*overrides, f"seed={seed}"])
    print(time.perf_counter() - begin)


if __name__ == "__main__":
    if sys.argv[1] == "expand":
        expand(sys.argv[2], int(sys.argv[3]))
    else:
        main()
