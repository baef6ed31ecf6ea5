"""Files of a lake that lies elsewhere, read with the file systems that Spark has."""

from typing import Any

from bench_spark.delta_log import Files, LocalFiles


class HadoopFiles:
    """Files by address, through Hadoop."""

    def __init__(self, spark: Any):
        self._jvm = spark._jvm
        self._conf = spark._jsparkSession.sessionState().newHadoopConf()

    def _path(self, path: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(path)

    def read(self, path: str) -> bytes | None:
        file = self._path(path)
        system = file.getFileSystem(self._conf)
        if not system.exists(file):
            return None
        stream = system.open(file)
        try:
            return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream))
        finally:
            stream.close()

    def exists(self, path: str) -> bool:
        file = self._path(path)
        return bool(file.getFileSystem(self._conf).exists(file))


def of_lake(lake: str, spark: Any) -> Files:
    """How the files of a lake are read."""
    return HadoopFiles(spark) if "://" in lake else LocalFiles()
