#!/bin/sh
# Start butfor with the loops that were compiled when the image was made. numba compiles them again if they are for another
# kind of processor.
set -eu
if ! [ -e "$NUMBA_CACHE_DIR" ]; then
  cp -R /opt/butfor/compiled "$NUMBA_CACHE_DIR"
fi
exec butfor "$@"
