"""The platform's own transformer as a pipeline: run, measured, never changed.

What it expects around it is replaced from outside: S3 by a folder, Temporal by its test environment,
the status database by lists in memory, the session that it makes for every activity by the worker's.
Everything else, above all what it does with Spark and Delta, is its own.
"""
