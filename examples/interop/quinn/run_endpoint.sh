#!/bin/sh
# The two examples of the crate `quinn`, which speak HTTP/0.9, in the folder `installed` beside this.
# The client takes 4433 for the port of any https address that has the usual one.
set -e
/setup.sh
case "$TESTCASE" in
handshake | transfer) ;;
*) exit 127 ;;
esac
if [ "$ROLE" = server ]; then
    exec /installed/bin/server --listen 0.0.0.0:4433 --key /certs/priv.key --cert /certs/cert.pem /www
fi
/wait-for-it.sh sim:57832 -s -t 30
grep -v CERTIFICATE /certs/ca.pem | base64 -d >/ca.der
for request in $REQUESTS; do
    /installed/bin/client --bind 0.0.0.0:0 --ca /ca.der "$request" >"/downloads/${request##*/}"
done
