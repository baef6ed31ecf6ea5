"""This project's own implementation of the platform's tables, with Structured Streaming and MERGE.

    reports -> curated -> latest -> dx
                       -> mapping -> history

Each arrow is a stream over the change feed of the table before it, run until it has seen everything,
with a checkpoint of its own. A batch that is replayed after a crash has the number and the rows that it
had before; a commit that must not happen twice carries that number as Delta's transaction.
"""
