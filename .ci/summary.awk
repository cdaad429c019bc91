# Reads `go test -v`, passes on what a reader needs (failures, the reason of each skip, one
# line per package), and closes with the count of tests and subtests.
/^ *--- PASS/                          { passed++; next }
/^ *--- FAIL/                          { failed++ }
/^ *--- SKIP/                          { skipped++ }
/^=== (RUN|PAUSE|CONT|NAME)/ || /^PASS$/ { next }
                                       { print; fflush() }
END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped }
