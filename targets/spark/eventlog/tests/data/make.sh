#!/bin/sh
# Makes the sample logs of this folder. See README.md.
#
#     sudo sh make.sh VENV JARS
#
# VENV is a virtual environment with pyspark and delta-spark, JARS the folder of Delta's jars, both as
# targets/spark/environment/prepare.py makes them. Event logs hold the host's name, the user's and paths,
# so Spark runs where these are neutral: in mount and host name spaces of its own, which need root.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
venv=$(cd "$1" && pwd)
jars=$(cd "$2" && pwd)
out=$(mktemp -d)
python=$("$venv/bin/python" -c 'import sys; print(sys.base_prefix)')
export here venv jars out python
unshare --mount --uts sh -eu -c '
    hostname node
    mkdir "$out/opt" "$out/lib"
    mount --bind "$out/opt" /opt
    mkdir -p /opt/venv /opt/jars /opt/python /opt/make /opt/logs
    mount --bind "$venv" /opt/venv
    mount --bind "$jars" /opt/jars
    mount --bind "$python" /opt/python
    mount --bind "$here" /opt/make
    cd /opt/logs
    packages=$(echo /opt/venv/lib/python3*/site-packages)
    for scene in plain zstd lz4 snappy killed; do
        env -i PATH=/opt/python/bin:/usr/bin:/bin HOME=/home/spark PYTHONPATH="$packages" \
            LD_LIBRARY_PATH=/opt/python/lib PYTHONDONTWRITEBYTECODE=1 \
            SPARK_USER=spark HADOOP_USER_NAME=spark SPARK_LOCAL_IP=127.0.0.1 SPARK_LOCAL_HOSTNAME=localhost \
            PYSPARK_PYTHON=/opt/python/bin/python3 \
            JAVA_TOOL_OPTIONS="-Duser.name=spark -Duser.home=/home/spark" \
            /opt/python/bin/python3 /opt/make/make.py "$scene" || test "$scene" = killed
    done
    /opt/python/bin/python3 /opt/make/make.py collect
'
rm -rf "$out"
