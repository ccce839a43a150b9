#!/usr/bin/env bash
# Installs exactly what skillpm.lock records.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$PROGRAM" install --frozen
