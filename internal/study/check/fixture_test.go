package check

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"pgregory.net/rapid"

	"github.com/gangplan/gangplan/sim"
)

func zip(b []byte) []byte {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.NoCompression)
	z.Write(b)
	z.Close()
	return out.Bytes()
}

func unzip(t testing.TB, file []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func drawTransitionsOnce(t testing.TB) sim.Transitions {
	t.Helper()
	return rapid.Custom(drawTransitions).Filter(func(ts sim.Transitions) bool { return len(ts) > 20 }).Example(1)
}
