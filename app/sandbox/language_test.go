package sandbox

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// A language that can't be used is logged once, not with each worker that starts.
func TestBadLanguagesAreLoggedOnce(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	s := newStarter()
	spanish := BadLanguage{"spa", "no such file"}
	for _, bad := range [][]BadLanguage{{spanish}, {spanish}, {spanish, {"deu", "not a regular file"}}, nil} {
		s.reportLanguages(log, bad)
	}
	for _, want := range []string{`language=spa cause="no such file"`, `language=deu cause="not a regular file"`} {
		if n := strings.Count(out.String(), want); n != 1 {
			t.Errorf("log has %q %d times, want 1:\n%s", want, n, out.String())
		}
	}
	if last := s.bad.Load(); last == nil || len(*last) != 0 {
		t.Errorf("bad languages of the last worker are %v, want none", last)
	}
}
