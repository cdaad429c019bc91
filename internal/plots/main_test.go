package plots

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// What runs that several tests look at are made with and kept in.
var (
	testContext = context.Background()
	testFolder  string
)

func TestMain(m *testing.M) {
	var err error
	if testFolder, err = os.MkdirTemp("", "plots-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(testFolder)
	os.Exit(code)
}
