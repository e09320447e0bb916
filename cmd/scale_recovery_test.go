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

// maxRecoverySearches is how many answers must be right after a loss.
const maxRecoverySearches = 50

// TestScaleIndexRecovery takes the index away in every way there is, in a vault whose
// documents, a tenth of DEEDKEEP_TEST_SCALE, all have 1,000 words, and says how long it
// is until the same 50 searches are answered as they must be. Nothing wrong is answered
// before. With DEEDKEEP_TEST_VAULT the vault is kept beside that one, as …-recovery.
func TestScaleIndexRecovery(t *testing.T) {
	m := recoveryMix(scaleSize(t))
	l := &indexLoss{t: t, dir: fillMix(t, m, "-recovery")}
	l.oracle = newOracle(t, m, l.dir)
	all := l.makeSearches(5)
	for n := range maxRecoverySearches {
		l.searches = append(l.searches, all[n*len(all)/maxRecoverySearches])
	}
	l.expect(l.searches)
	startServer(t, l.dir).stop(t) // compiles the engine and changes the schema, if it must
	fmt.Printf("\n| of %d documents of %d words, with %d abstracts and orders | until %d answers are right | rebuilt |\n| --- | --- | --- |\n",
		m.Texts, vaulttest.TextWords, 2*m.Orders, maxRecoverySearches)

	l.removeIndex()
	whole := l.printRow("the index is deleted", l.timeRecovery())
	l.printRow("nothing: a start with the index there", l.timeRecovery())
	l.removeIndex()
	p := startServer(t, l.dir)
	time.Sleep(whole / 2)
	p.kill()
	l.printRow("killed half-way through indexing", l.timeRecovery())
	l.printRow("one segment is missing", l.removeSegment())
	for _, part := range []int64{2, 3, 5, 7, 11} {
		if l.printRow(fmt.Sprintf("one byte changed, at 1/%d of the largest segment", part), l.flipByte(part)); l.rebuilt {
			break
		}
	}
}

// indexLoss is a vault that loses its index.
type indexLoss struct {
	*oracle
	t        *testing.T
	dir      string
	searches []*searchCase
	rebuilt  bool // after the last loss an index was made
}

func (l *indexLoss) printRow(what string, took time.Duration) time.Duration {
	fmt.Printf("| %s | %.1f s | %v |\n", what, took.Seconds(), l.rebuilt)
	return took
}

func (l *indexLoss) removeIndex() {
	if err := os.RemoveAll(filepath.Join(l.dir, "search")); err != nil {
		l.t.Fatalf("remove directory: %v", err)
	}
}

// timeRecovery serves and gives how long it is until every search is answered rightly; then the
// server stops.
func (l *indexLoss) timeRecovery() time.Duration {
	l.t.Helper()
	start := time.Now()
	p := startServer(l.t, l.dir)
	key := p.createKey(l.t, "recovery")
	for _, a := range l.searches {
		for !l.check(p, key, a) {
			if time.Since(start) > 2*time.Hour {
				l.t.Fatalf("%s is not answered after two hours", a.path(maxWanted))
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	took := time.Since(start)
	p.waitMerged(l.t, filepath.Join(l.dir, "search"))
	p.stop(l.t)
	l.rebuilt = strings.Contains(p.messages.String(), "the search index is being made")
	return took
}

// check reports whether there is an answer; there may be none, but no wrong one.
func (l *indexLoss) check(p *serverProcess, key string, a *searchCase) bool {
	l.t.Helper()
	status, resp := send(l.t, p, key, "GET", a.path(maxWanted), nil)
	if status == http.StatusServiceUnavailable {
		return false
	}
	var got searchResponse
	if err := json.Unmarshal(resp, &got); err != nil || status != http.StatusOK {
		l.t.Fatalf("%s: %d %s", a.path(maxWanted), status, resp)
	}
	err := l.checkResponse(a, got)
	if err == nil && len(a.want) <= maxWanted && a.first == "" {
		err = l.checkComplete(a, got)
	}
	if err != nil {
		l.t.Errorf("%s %s: %v", a.class, a.path(maxWanted), err)
	}
	return true
}

// kill ends the server without a word.
func (p *serverProcess) kill() {
	_ = p.process.Process.Kill() // It may have ended.
	<-p.done
}

// largestSegment is the largest file of the index.
func (l *indexLoss) largestSegment() (path string, size int64) {
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

func (l *indexLoss) removeSegment() time.Duration {
	path, _ := l.largestSegment()
	if err := os.Remove(path); err != nil {
		l.t.Fatalf("remove file: %v", err)
	}
	return l.timeRecovery()
}

func (l *indexLoss) flipByte(part int64) time.Duration {
	path, size := l.largestSegment()
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
	return l.timeRecovery()
}
