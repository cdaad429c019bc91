package staging

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"sync"
)

// machine is a short name for what shares locks: a running kernel where it has a name of
// its own, else what the machine is called. Machines may be called alike, and containers
// of one machine differently.
var machine = sync.OnceValue(func() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		name, _ := os.Hostname()
		id = []byte(name)
	}
	sum := sha256.Sum256(id)
	return hex.EncodeToString(sum[:4])
})
