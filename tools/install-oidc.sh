#!/bin/sh
# Puts an OpenID provider of others where test/identity/oidc-provider.test.ts looks for it.
set -eu
cd "$(dirname "$0")/.."
mkdir -p .tools/oidc
npm install --prefix .tools/oidc --ignore-scripts --no-package-lock --no-audit --no-fund oidc-provider@9.13.3
