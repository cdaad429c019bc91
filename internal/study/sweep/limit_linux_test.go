package sweep

import (
	"os/signal"
	"strconv"
	"syscall"
)

// limitFiles keeps this process from writing files beyond a size. Go would end it.
func limitFiles(size string) {
	if n, err := strconv.ParseUint(size, 10, 63); err == nil {
		signal.Ignore(syscall.SIGXFSZ)
		setLimit(n)
	}
}

func setLimit(n uint64) {
	limit := syscall.Rlimit{}
	_ = syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit)
	limit.Cur = n
	_ = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
}
