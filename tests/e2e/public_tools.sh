#!/bin/sh
# Checks one audit with public tools alone. $1: folder with bank/ key.txt run/ report.pdf signer.pem tsa.pem
# Prints one line a check; stops at the first that fails.
set -eu
cd "$1"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ok() { printf 'OK %s\n' "$1"; }

age -d -i key.txt bank/bank.age >"$work/package.jsonl"
[ "$(head -n 1 "$work/package.jsonl" | cut -c1-9)" = '{"canary"' ]
ok "age opens the bank"
grep -q "\"ciphertext_sha256\":\"$(sha256sum <bank/bank.age | cut -d' ' -f1)\"" bank/manifest.json
grep -q "\"package_sha256\":\"$(sha256sum <"$work/package.jsonl" | cut -d' ' -f1)\"" bank/manifest.json
ok "sha256sum agrees with the bank's manifest"
grep -q "sha256:$(sha256sum <bank/manifest.json | cut -d' ' -f1)" run/contract/contract.json
ok "the bank's manifest is the one that the contract pins"
(cd run && sha256sum --quiet -c SHA256SUMS)
ok "sha256sum agrees with SHA256SUMS"
openssl cms -verify -binary -inform DER -in run/manifest.p7s -content run/manifest.json -CAfile signer.pem \
  -purpose any -out /dev/null 2>"$work/cms" || { cat "$work/cms"; exit 1; }
ok "openssl cms accepts the envelope"
openssl ts -verify -data run/manifest.p7s -in run/manifest.tsr -CAfile tsa.pem >"$work/ts" 2>&1 || { cat "$work/ts"; exit 1; }
ok "openssl ts accepts the token of the envelope"
for token in run/custody/checkpoints/*.tsr; do
  head -n 3 "${token%.tsr}" >"$work/body"
  openssl ts -verify -data "$work/body" -in "$token" -CAfile tsa.pem >"$work/ts" 2>&1 || { cat "$work/ts"; exit 1; }
done
ok "openssl ts accepts the tokens of the ledger"
pdfdetach -saveall -o "$work" report.pdf >/dev/null 2>"$work/detach" || { cat "$work/detach"; exit 1; }
[ -s "$work/report.json" ]
cmp -s "$work/manifest.json" run/manifest.json
ok "pdfdetach returns report.json and the manifest"
qpdf --check report.pdf >"$work/qpdf" 2>&1 || { cat "$work/qpdf"; exit 1; }
ok "qpdf finds nothing to repair"
pdfsig -nocert report.pdf >"$work/pdfsig" 2>&1 || true
grep -q "Signature is Valid" "$work/pdfsig"
grep -q "Total document signed" "$work/pdfsig"
ok "pdfsig finds the signature valid over the whole document"
