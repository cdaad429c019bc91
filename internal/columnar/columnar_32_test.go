//go:build 386 || arm || mips || mipsle

package columnar

import (
	"bytes"
	"errors"
	"testing"
)

func Test32BitBuildsSayWhatTheyCannotDo(t *testing.T) {
	if err := WriteParquet(&bytes.Buffer{}, NewTable(), nil); !errors.Is(err, ErrUnsupported) {
		t.Errorf("write: %v", err)
	}
	if err := StreamParquet(&bytes.Buffer{}, nil, nil, func(*Table) bool { return false }); !errors.Is(err, ErrUnsupported) {
		t.Errorf("stream: %v", err)
	}
	if _, _, err := ReadParquet(bytes.NewReader(nil), 0); !errors.Is(err, ErrUnsupported) {
		t.Errorf("read: %v", err)
	}
	if _, _, err := OpenParquet("x.parquet"); !errors.Is(err, ErrUnsupported) {
		t.Errorf("open: %v", err)
	}
}
