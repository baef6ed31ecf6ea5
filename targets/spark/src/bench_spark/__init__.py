"""Spark as a target of the bench: a worker of docs/worker-protocol.md with two pipelines.

`builtin` is this project's own implementation of the platform's tables with Structured Streaming and
MERGE. `scout` drives a checkout of the platform's own transformer, unmodified. Everything around them
(protocol, session, settings, memory, the account of a workflow) is shared.
"""

__version__ = "0.1.0"
