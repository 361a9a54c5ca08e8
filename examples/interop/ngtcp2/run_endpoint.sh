#!/bin/sh
# ngtcp2's programs (Debian: ngtcp2-client, ngtcp2-server), which speak HTTP/3 alone.
set -e
/setup.sh
case "$TESTCASE" in
http3) ;;
*) exit 127 ;;
esac
if [ "$ROLE" = server ]; then
    mkdir -p "$QLOGDIR"
    exec gtlsserver --quiet --cc=cubic --htdocs=/www --qlog-dir="$QLOGDIR" \
        0.0.0.0 443 /certs/priv.key /certs/cert.pem
fi
/wait-for-it.sh sim:57832 -s -t 30
exec gtlsclient --quiet --exit-on-all-streams-close --download=/downloads server4 443 $REQUESTS
