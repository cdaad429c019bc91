//go:build 386 || arm || mips || mipsle

package columnar

import "io"

// WriteParquet returns ErrUnsupported: Arrow's Parquet writer needs 64-bit atomics to be
// aligned, which Go does not promise on 32-bit processors, and panics.
func WriteParquet(io.Writer, *Table, [][2]string) error { return ErrUnsupported }

// StreamParquet returns ErrUnsupported, as WriteParquet does.
func StreamParquet(io.Writer, []Column, [][2]string, func(*Table) bool) error { return ErrUnsupported }

// ReadParquet returns ErrUnsupported, as WriteParquet does.
func ReadParquet(io.ReaderAt, int64, ...string) (*Table, [][2]string, error) {
	return nil, nil, ErrUnsupported
}

// OpenParquet returns ErrUnsupported, as WriteParquet does.
func OpenParquet(string, ...string) (*Table, [][2]string, error) {
	return nil, nil, ErrUnsupported
}
