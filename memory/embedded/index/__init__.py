"""The process of the embedded index: the part of Qdrant's REST API that we use, over the engine qdrant-edge."""

import os

# One request at a time: more threads of numpy would only wait, and use a core for it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
