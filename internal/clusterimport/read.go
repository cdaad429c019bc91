package clusterimport

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/traces/kube"
)

// Read reads what kubectl printed: a file, or all files of a folder that end in .yaml, .yml or
// .json, in the order of their names. The error is a *kube.Error or says what cannot be read.
func Read(path string) (*kube.Dump, error) {
	names := []string{path}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s cannot be read: %w", path, cause(err))
	case !info.IsDir() && !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is neither a file nor a folder", path)
	case info.IsDir():
		if names, err = filesOf(path); err != nil {
			return nil, err
		}
	}
	d := &kube.Dump{}
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("%s cannot be read: %w", name, cause(err))
		}
		err = d.Add(name, f)
		f.Close()
		if err != nil {
			return nil, err
		}
	}
	return d, nil
}

func filesOf(dir string) (names []string, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(path))) {
			names = append(names, path)
		}
		return err
	})
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("%s has no files that end in .yaml, .yml or .json", dir)
	}
	return names, err
}

// cause is an error of the file system without its path.
func cause(err error) error {
	if e, ok := err.(*fs.PathError); ok {
		return e.Err
	}
	return err
}
