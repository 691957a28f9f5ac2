#!/bin/sh
# Builds the bot: compiles it, and copies Scala's library beside it, so that Java alone runs it.
set -eu
mkdir -p build
scalac -d build DemoWordRacer.scala Runner.scala LocalTester.scala
here=$(dirname "$(readlink -f "$(command -v scalac)")")
for library in "${SCALA_HOME:-$here/..}"/lib/scala-library*.jar "$here"/../lib/scala-library*.jar /usr/share/java/scala-library.jar; do
    if [ -f "$library" ]; then
        cp "$library" scala-library.jar
        exit 0
    fi
done
echo "scala-library.jar was not found: set SCALA_HOME to the folder of Scala" >&2
exit 1
