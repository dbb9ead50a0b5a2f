#!/bin/sh
# Puts a Chromium from the npm registry where the tests of the console look for it. It brings its libraries and fonts.
set -eu
cd "$(dirname "$0")/.."
if [ -n "${CHROMIUM:-}" ] || [ -x /usr/bin/chromium ]; then exit 0; fi
case "$(uname -sm)" in
"Linux x86_64") ;;
*)
  echo "There is no packed Chromium for this system: set CHROMIUM to the path of one." >&2
  exit 0
  ;;
esac
mkdir -p .tools/browser
npm install --prefix .tools/browser --ignore-scripts --no-package-lock --no-audit --no-fund --loglevel=error @sparticuz/chromium@153.0.0
node tools/unpack-browser.mjs
