#!/usr/bin/env bash
# Comprueba un ítem abierto sin nuestro programa: bash, openssl, xxd, base64, sed y grep.
# Checks an opened item without our program: bash, openssl, xxd, base64, sed and grep.
#
#   bash verify_item.sh FOLDER [sha256:BANK_DIGEST] [LEDGER_VKEY]
#
# FOLDER holds manifest.json leaf.json content.json salt.hex part.txt item.tlog-proof. The digest and the vkey are
# those of the contract (evaluation_set.bank_digest, ledger.vkey); what is not given is not checked, and it says so.
# Last line: OK, or FAIL and why. Exit code 0 or 1.
set -u
export LC_ALL=C
umask 077

fail() { echo "FAIL: $1"; exit 1; }
hex_of() { xxd -p | sed -e ':a' -e 'N' -e '$!ba' -e 's/\n//g'; }
sha() { local out; out=$(openssl dgst -sha256 -r) || fail "openssl"; echo "${out%% *}"; }
node() { printf '01%s%s' "$1" "$2" | xxd -r -p | sha; }

dir=${1:?folder}
digest=${2:-}
vkey=${3:-}
for name in manifest.json leaf.json content.json salt.hex part.txt item.tlog-proof; do
  [ -f "$dir/$name" ] || fail "falta / missing $name"
done

# 1. The manifest is the one that the contract pins.
bank="sha256:$(sha < "$dir/manifest.json")"
echo "bank digest: $bank"
if [ -z "$digest" ]; then
  echo "compare con evaluation_set.bank_digest del contrato / compare with the contract"
elif [ "$digest" != "$bank" ]; then
  fail "no es el banco del contrato / not the contract's bank"
fi

# 2. The content and its salt give the commitment in the leaf.
leaf='^\{"c_query":"[0-9a-f]{64}","c_reference":"[0-9a-f]{64}","i":(0|[1-9][0-9]{0,5}),"id":"[a-z0-9-]+","stratum":"([^"\\]|\\.)+"(,"twin_of":"[a-z0-9-]+")?\}$'
grep -Eq "$leaf" "$dir/leaf.json" || fail "leaf.json"
part=$(sed -n '1p' "$dir/part.txt")
[ "$part" = query ] || [ "$part" = reference ] || fail "part.txt"
salt=$(sed -n '1p' "$dir/salt.hex")
[[ $salt =~ ^[0-9a-f]{64}$ ]] || fail "salt.hex"
stated=$(sed -n "s/^.*\"c_$part\":\"\([0-9a-f]*\)\".*$/\1/p" "$dir/leaf.json")
found=$({ printf 'slaverify/commitment/v1\0%s\0' "$part"; sed -n 'p' "$dir/content.json"; } |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$salt" -r)
[ "${found%% *}" = "$stated" ] || fail "el contenido no es el comprometido / the content is not the committed one"

# 3. The proof: header, leaf number, path, and a checkpoint that states the manifest's size and root.
mapfile -t lines < "$dir/item.tlog-proof"
[ "${lines[0]:-}" = "c2sp.org/tlog-proof@v1" ] || fail "item.tlog-proof"
[[ ${lines[1]:-} =~ ^index\ (0|[1-9][0-9]{0,5})$ ]] || fail "item.tlog-proof"
index=${BASH_REMATCH[1]}
path=()
at=2
while [ "$at" -lt "${#lines[@]}" ] && [ -n "${lines[$at]}" ]; do
  hash=$(printf '%s' "${lines[$at]}" | base64 -d 2> /dev/null | hex_of)
  [ "${#hash}" -eq 64 ] || fail "item.tlog-proof"
  path+=("$hash")
  at=$((at + 1))
done
origin=${lines[$((at + 1))]:-}
size=${lines[$((at + 2))]:-}
root64=${lines[$((at + 3))]:-}
[ -z "${lines[$((at + 4))]:-}" ] || fail "checkpoint"
[[ $size =~ ^[1-9][0-9]{0,5}$ ]] || fail "checkpoint"
root=$(printf '%s' "$root64" | base64 -d 2> /dev/null | hex_of)
[ "$size" = "$(sed -n 's/^.*"n":\([0-9]*\),"name":".*$/\1/p' "$dir/manifest.json")" ] || fail "size"
[ "$root" = "$(sed -n 's/^.*"root":"\([0-9a-f]*\)".*$/\1/p' "$dir/manifest.json")" ] || fail "root"

# 4. The checkpoint is signed by the bank's key.
if [ -z "$vkey" ]; then
  echo "firma no comprobada: falta la clave / signature not checked: no key given"
else
  work=$(mktemp -d) || fail "mktemp"
  trap 'rm -rf "$work"' EXIT
  # name + key hash + base64, which may hold a plus of its own.
  key=${vkey#*+}
  key=$(printf '%s' "${key#*+}" | base64 -d 2> /dev/null | hex_of)
  [ "${#key}" -eq 66 ] && [ "${key:0:2}" = 01 ] || fail "vkey"
  printf '302a300506032b6570032100%s' "${key:2}" | xxd -r -p > "$work/key.der"
  printf '%s\n%s\n%s\n' "$origin" "$size" "$root64" > "$work/body"
  signed=no
  for line in "${lines[@]:$((at + 5))}"; do
    case $line in "— $origin "*) ;; *) continue ;; esac
    printf '%s' "${line##* }" | base64 -d 2> /dev/null | hex_of | sed 's/^.\{8\}//' | xxd -r -p > "$work/sig"
    openssl pkeyutl -verify -pubin -keyform DER -inkey "$work/key.der" -rawin -in "$work/body" \
      -sigfile "$work/sig" > /dev/null 2>&1 && signed=yes
  done
  [ "$signed" = yes ] || fail "firma del punto de control / checkpoint signature"
fi

# 5. The leaf stands in the tree, at its own number (RFC 9162, section 2.1.3.2).
[ "$index" = "$(sed -n 's/^.*"i":\([0-9]*\),"id":.*$/\1/p' "$dir/leaf.json")" ] || fail "index"
[ "$index" -lt "$size" ] || fail "index"
acc=$({ printf '\0'; sed -n 'p' "$dir/leaf.json"; } | sha)
number=$index
last=$((size - 1))
for hash in ${path[@]+"${path[@]}"}; do
  [ "$last" -gt 0 ] || fail "prueba / proof"
  if [ $((number & 1)) -eq 1 ] || [ "$number" -eq "$last" ]; then
    acc=$(node "$hash" "$acc")
    while [ $((number & 1)) -eq 0 ] && [ "$number" -ne 0 ]; do
      number=$((number >> 1))
      last=$((last >> 1))
    done
  else
    acc=$(node "$acc" "$hash")
  fi
  number=$((number >> 1))
  last=$((last >> 1))
done
[ "$last" -eq 0 ] && [ "$acc" = "$root" ] || fail "el ítem no está en el banco / the item is not in the bank"
echo OK
