#!/bin/sh
# Puts a Firefox where the stories of the console look for it: Debian's package, and the release of playwright-core that
# speaks with it over WebDriver BiDi. The release that drives Chromium uses commands that firefox-esr does not know yet.
set -eu
cd "$(dirname "$0")/.."
if [ -z "${FIREFOX:-}" ] && [ ! -x /usr/bin/firefox-esr ]; then
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "There is no Firefox: install firefox-esr, or set FIREFOX to the path of one." >&2
    exit 0
  fi
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends firefox-esr
fi
mkdir -p .tools/firefox
npm install --prefix .tools/firefox --ignore-scripts --no-package-lock --no-audit --no-fund --loglevel=error playwright-core@1.64.1
