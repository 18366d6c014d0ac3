"""What a collection says of itself, in the shape of Qdrant's collection info."""

from typing import Any

import qdrant_edge as edge

from memory.embedded.index.collections import Collection
from memory.embedded.index.engine import asking_engine

_TYPES = {
    edge.PayloadSchemaType.Keyword: "keyword",
    edge.PayloadSchemaType.Integer: "integer",
    edge.PayloadSchemaType.Float: "float",
    edge.PayloadSchemaType.Datetime: "datetime",
    edge.PayloadSchemaType.Uuid: "uuid",
}


def describe_collection(collection: Collection) -> dict[str, Any]:
    """Its vectors, indexes and number of points. The parts that clients demand and that mean nothing here
    (the graph, the optimizer) tell what is true of it: no graph, no threshold.
    """
    with asking_engine():
        info = collection.shard.info()
    vectors = collection.settings.model_dump(include={"vectors", "sparse_vectors"}, exclude_none=True)
    return {
        "status": "green",
        "optimizer_status": "ok",
        "indexed_vectors_count": 0,
        "points_count": info.points_count,
        "segments_count": info.segments_count,
        "config": {
            "params": {"shard_number": 1, "replication_factor": 1, "on_disk_payload": True, **vectors},
            "hnsw_config": {"m": 0, "ef_construct": 100, "full_scan_threshold": 10000},
            "optimizer_config": {
                "default_segment_number": 1,
                "indexing_threshold": 0,
                "flush_interval_sec": 5,
            },
        },
        "payload_schema": {
            name: _describe_index(index)
            for name, index in info.payload_schema.items()
            if index.data_type in _TYPES
        },
    }


def _describe_index(index: "edge.PayloadIndexInfo") -> dict[str, Any]:
    kind = _TYPES[index.data_type]
    told: dict[str, Any] = {"data_type": kind, "points": index.points}
    params = index.params
    if isinstance(params, edge.KeywordIndexParams | edge.UuidIndexParams) and params.is_tenant is not None:
        told["params"] = {"type": kind, "is_tenant": params.is_tenant}
    return told
