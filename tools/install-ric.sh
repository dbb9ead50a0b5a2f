#!/bin/sh
# Puts Amazon's runtime client for Node where test/infra/runtime-client.test.ts looks for it, without building its native part.
set -eu
cd "$(dirname "$0")/.."
mkdir -p .tools/ric
npm install --prefix .tools/ric --ignore-scripts --no-package-lock --no-audit --no-fund aws-lambda-ric@3.3.0
