//go:build race

package sweep

func init() { raced = true }
