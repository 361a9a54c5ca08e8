#!/bin/sh
# endpoint.py on Debian's Python, with aioquic in the folder `packages` beside it.
set -e
/setup.sh
case "$TESTCASE" in
handshake | transfer) ;;
*) exit 127 ;;
esac
[ "$ROLE" = server ] || /wait-for-it.sh sim:57832 -s -t 30
PYTHONPATH=/packages CONTROL=cubic exec /usr/bin/python3 /endpoint.py
