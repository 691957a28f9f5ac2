#!/usr/bin/env bash
# Creates certificates for NATS with your own certificate authority. Agon and NATS then accept no other authority.
#   certificates.sh DIR server HOST...    DIR/ca.pem (created once), DIR/server.pem and server.key for these names and addresses
#   certificates.sh DIR client NAME       DIR/NAME.pem and NAME.key, for servers that require client certificates (`verify: true` in nats.conf)
# Copy ca.pem to every machine (--nats-ca). Keep ca.key here, best offline: it can create certificates for every name.
set -euo pipefail

fail() { printf 'error: %s\nhint: %s\n' "$1" "$2" >&2; exit 2; }
[ "$#" -ge 3 ] || fail "missing arguments: a folder, server or client, and names" "run: certificates.sh tls server nats.example.org 10.0.0.5"
command -v openssl >/dev/null 2>&1 || fail "openssl is missing" "install it; Debian, Ubuntu: sudo apt-get install openssl"

folder=$1 kind=$2
shift 2
umask 077
mkdir -p "$folder"
cd "$folder"
new_key() { openssl ecparam -name prime256v1 -genkey -noout 2>/dev/null | openssl pkcs8 -topk8 -nocrypt -out "$1"; }

if [ ! -e ca.key ]; then
    new_key ca.key
    openssl req -x509 -new -key ca.key -sha256 -days 3650 -subj "/CN=Agon league" \
        -addext "basicConstraints=critical,CA:TRUE" -addext "keyUsage=critical,keyCertSign,cRLSign" -out ca.pem
fi
case $kind in
server) name=server usage=serverAuth ;;
client) name=$1 usage=clientAuth ;;
*) fail "\`$kind\` is neither server nor client" "run: certificates.sh DIR server HOST..." ;;
esac
case $name in *[!A-Za-z0-9_-]* | ca | "") fail "\`$name\` is not a valid name" "use letters, digits, - and _" ;; esac

names=
for host in "$@"; do
    case $host in
    *[!A-Za-z0-9.:_-]*) fail "\`$host\` is not a host name" "use names and addresses, without ports" ;;
    *:* | [0-9]*.[0-9]*.[0-9]*.[0-9]*) names+="${names:+,}IP:$host" ;;
    *) names+="${names:+,}DNS:$host" ;;
    esac
done
new_key "$name.key"
openssl req -new -key "$name.key" -subj "/CN=$1" -out "$name.csr"
openssl x509 -req -in "$name.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -sha256 -days 825 -out "$name.pem" 2>/dev/null \
    -extfile <(printf 'basicConstraints=CA:FALSE\nextendedKeyUsage=%s\nsubjectAltName=%s\n' "$usage" "$names")
rm -f "$name.csr"
chmod 644 ca.pem "$name.pem"
echo "written: $folder/$name.pem and $name.key, for ${names//,/, }" >&2
