"""Keeps numpy's matrix products to one thread, by the library that numpy's own wheels bring along."""

import ctypes
from pathlib import Path

import numpy as np


def use_one_blas_thread() -> bool:
    """Ends OpenBLAS's threading in this process; False where numpy was built with another library.

    Its threads wait for each other by spinning. Measured on two cores: alone, two of them embed a text in 6 ms
    where one takes 12; beside one other busy process they take 16 to 28 ms, and 64 texts 4 times as long.
    """
    package = Path(np.__file__).parent
    for folder in (package.parent / "numpy.libs", package / ".dylibs"):
        for library in folder.glob("libscipy_openblas64_*"):
            # Already loaded by numpy: this only gives us a handle to it.
            openblas = ctypes.CDLL(str(library))
            if hasattr(openblas, "scipy_openblas_set_num_threads64_"):
                openblas.scipy_openblas_set_num_threads64_(1)
                return True
    return False
