package sweep

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// layOut lays the tables of all cells out as a Hive data set: a folder AXIS=VALUE for each
// axis, in their order. The files are the cells' own, linked where the file system can.
func (s *Sweep) layOut(dir string) error {
	for i := range s.Cells {
		c := &s.Cells[i]
		tables, err := filepath.Glob(filepath.Join(c.Dir, "*.parquet"))
		if err != nil {
			return err
		}
		if len(tables) == 0 {
			continue
		}
		to := dir
		for a := range s.Axes {
			to = filepath.Join(to, hiveName(s.Axes[a].Name)+"="+hiveName(c.Values[a]))
		}
		if err := os.MkdirAll(to, 0o777); err != nil {
			return err
		}
		for _, from := range tables {
			if err := link(from, filepath.Join(to, filepath.Base(from))); err != nil {
				return err
			}
		}
	}
	return nil
}

// longestName keeps the names of folders within what file systems take.
const longestName = 100

// hiveName writes a name or a value as Hive does: what could mean something in a path is
// written %XX. What is too long is cut, with a hash of all of it.
func hiveName(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("._+-", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	name := b.String()
	if len(name) > longestName {
		sum := sha256.Sum256([]byte(s))
		cut := strings.TrimRight(name[:longestName-12], "%0123456789ABCDEF") // no half of a %XX
		name = cut + "-" + hex.EncodeToString(sum[:5])
	}
	return name
}

// link gives a file a second name, or makes a copy where that cannot be.
func link(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	return copyFile(from, to)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
