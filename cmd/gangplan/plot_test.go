package main

import (
	"bytes"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/internal/plots"
)

var (
	fileOfBlock = regexp.MustCompile("(?s)`([a-z]+\\.yaml)`[^`]*```yaml\n(.*?)```")
	shBlock     = regexp.MustCompile("(?s)```sh\n(.*?)```")
	picture     = regexp.MustCompile(`!\[[^\]]+\]\(plots/([a-z-]+\.svg)\)`)
)

// docs/plots.md is followed: its files are written, its commands run, and the pictures that
// they draw are those of the page. So every kind is pinned by a picture that people look at.
func TestPlotsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/plots.md")
	if err != nil {
		t.Fatal(err)
	}
	shown, err := filepath.Abs("../../docs/plots")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, m := range fileOfBlock.FindAllStringSubmatch(string(page), -1) {
		write(t, m[1], m[2])
	}
	kinds := map[string]bool{}
	for _, block := range shBlock.FindAllStringSubmatch(string(page), -1) {
		for line := range strings.Lines(block[1]) {
			args := strings.Fields(line)
			gangplan(t, exitOK, args[1:]...)
			if i := slices.Index(args, "--kind"); i > 0 {
				kinds[args[i+1]] = true
			}
		}
	}
	for _, name := range plots.Names() {
		if !kinds[name] {
			t.Errorf("the page has no picture of %s", name)
		}
	}
	var names []string
	for _, m := range picture.FindAllStringSubmatch(string(page), -1) {
		names = append(names, m[1])
		comparePicture(t, filepath.Join(shown, m[1]), m[1])
	}
	drawn, _ := filepath.Glob("*.svg")
	kept, _ := filepath.Glob(filepath.Join(shown, "*"))
	if len(drawn) != len(names) || len(kept) != len(names) {
		t.Errorf("%d pictures on the page, %d drawn, %d kept", len(names), len(drawn), len(kept))
	}
}

// comparePicture compares a picture with the one that is kept, or keeps it.
func comparePicture(t *testing.T, kept, drawn string) {
	t.Helper()
	got, err := os.ReadFile(drawn)
	if err != nil {
		t.Error(err)
		return
	}
	if os.Getenv("GANGPLAN_UPDATE") != "" {
		if err := os.WriteFile(kept, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(kept)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is another picture than the command draws, %v (GANGPLAN_UPDATE=1 keeps it; look at it)", drawn, err)
	}
	for d := xml.NewDecoder(bytes.NewReader(got)); ; {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("%s: %v", drawn, err)
		}
	}
}
