# shellcheck shell=bash
# How the steps that download something do so.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

case $INPUT_MIRROR in
  https://* | http://127.0.0.1:* | http://localhost:*) ;;
  *) fail 2 "the mirror must be an https:// address, not '$INPUT_MIRROR'" ;;
esac
case $INPUT_TOKEN in
  *[!A-Za-z0-9._~+/=-]*) fail 2 "the token has characters that no bearer token has" ;;
esac

# fetch URL CURL-ARGUMENT... requests a URL of the mirror. The token goes through standard input, not on the command line.
fetch() {
  local url=$1 protocol=https
  shift
  case $url in
    http:*) protocol=http ;;
  esac
  if [ -n "$INPUT_TOKEN" ]; then
    printf 'header = "Authorization: Bearer %s"\n' "$INPUT_TOKEN"
  fi | curl --config - --silent --show-error --fail --proto "=$protocol" --retry 3 --connect-timeout 20 --max-time 300 "$@" -- "$url"
}
