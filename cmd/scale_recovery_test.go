//go:build scale && linux

package cmd

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deedkeep/app/vaulttest"
)

// recoverySearches is how many answers must be right after a loss.
const recoverySearches = 50

// TestScaleIndexRecovery takes the index away in every way there is, in a vault whose
// documents, a tenth of DEEDKEEP_TEST_SCALE, all have 1,000 words, and says how long it
// is until the same 50 searches are answered as they must be. Nothing wrong is answered
// before. With DEEDKEEP_TEST_VAULT the vault is kept beside that one, as …-recovery.
func TestScaleIndexRecovery(t *testing.T) {
	m := recoveryMix(scaleSize(t))
	l := &losing{t: t, dir: fillMix(t, m, "-recovery")}
	l.oracle = newOracle(t, m, l.dir)
	all := l.scaleSearches(5)
	for n := range recoverySearches {
		l.searches = append(l.searches, all[n*len(all)/recoverySearches])
	}
	l.expect(l.searches)
	startProgram(t, l.dir).stop(t) // compiles the engine and changes the schema, if it must
	fmt.Printf("\n| of %d documents of %d words, with %d abstracts and orders | until %d answers are right | rebuilt |\n| --- | --- | --- |\n",
		m.Texts, vaulttest.TextWords, 2*m.Orders, recoverySearches)

	l.remove()
	whole := l.row("the index is deleted", l.start())
	l.row("nothing: a start with the index there", l.start())
	l.remove()
	p := startProgram(t, l.dir)
	time.Sleep(whole / 2)
	p.kill()
	l.row("killed half-way through indexing", l.start())
	l.row("one segment is missing", l.withoutSegment())
	for _, part := range []int64{2, 3, 5, 7, 11} {
		if l.row(fmt.Sprintf("one byte changed, at 1/%d of the largest segment", part), l.flipped(part)); l.rebuilt {
			break
		}
	}
}

// losing is a vault that loses its index.
type losing struct {
	*oracle
	t        *testing.T
	dir      string
	searches []*asked
	rebuilt  bool // after the last loss an index was made
}

func (l *losing) row(what string, took time.Duration) time.Duration {
	fmt.Printf("| %s | %.1f s | %v |\n", what, took.Seconds(), l.rebuilt)
	return took
}

func (l *losing) remove() {
	if err := os.RemoveAll(filepath.Join(l.dir, "search")); err != nil {
		l.t.Fatalf("remove directory: %v", err)
	}
}

// start serves and gives how long it is until every search is answered rightly; then the
// server stops.
func (l *losing) start() time.Duration {
	l.t.Helper()
	begun := time.Now()
	p := startProgram(l.t, l.dir)
	key := p.key(l.t, "recovery")
	for _, a := range l.searches {
		for !l.answered(p, key, a) {
			if time.Since(begun) > 2*time.Hour {
				l.t.Fatalf("%s is not answered after two hours", a.address(mostWanted))
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	took := time.Since(begun)
	p.settled(l.t, filepath.Join(l.dir, "search"))
	p.stop(l.t)
	l.rebuilt = strings.Contains(p.messages.String(), "the search index is being made")
	return took
}

// answered reports whether there is an answer; there may be none, but no wrong one.
func (l *losing) answered(p *program, key string, a *asked) bool {
	l.t.Helper()
	status, answer := send(l.t, p, key, "GET", a.address(mostWanted), nil)
	if status == http.StatusServiceUnavailable {
		return false
	}
	var got found
	if err := json.Unmarshal(answer, &got); err != nil || status != http.StatusOK {
		l.t.Fatalf("%s: %d %s", a.address(mostWanted), status, answer)
	}
	err := l.judge(a, got)
	if err == nil && len(a.want) <= mostWanted && a.first == "" {
		err = l.complete(a, got)
	}
	if err != nil {
		l.t.Errorf("%s %s: %v", a.class, a.address(mostWanted), err)
	}
	return true
}

// kill ends the server without a word.
func (p *program) kill() {
	_ = p.process.Process.Kill() // It may have ended.
	<-p.ended
}

// segment is the largest file of the index.
func (l *losing) segment() (path string, size int64) {
	err := filepath.WalkDir(filepath.Join(l.dir, "search"), func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Size() > size {
			path, size = at, info.Size()
		}
		return err
	})
	if err != nil || size == 0 {
		l.t.Fatalf("the largest segment is %q, %d bytes: %v", path, size, err)
	}
	return path, size
}

func (l *losing) withoutSegment() time.Duration {
	path, _ := l.segment()
	if err := os.Remove(path); err != nil {
		l.t.Fatalf("remove file: %v", err)
	}
	return l.start()
}

func (l *losing) flipped(part int64) time.Duration {
	path, size := l.segment()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		l.t.Fatalf("open file: %v", err)
	}
	one := make([]byte, 1)
	if _, err := f.ReadAt(one, size/part); err != nil {
		l.t.Fatalf("read at: %v", err)
	}
	one[0] ^= 0x10
	_, err = f.WriteAt(one, size/part)
	if closed := f.Close(); err != nil || closed != nil {
		l.t.Fatal(err, closed)
	}
	return l.start()
}
