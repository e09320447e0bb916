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

// maxRecoverySearches is the number of searches that must return the correct records after a loss.
const maxRecoverySearches = 50

// TestScaleIndexRecovery deletes or damages the search index in several ways. It measures how long it takes until 50
// searches return the correct records. Until then, searches may fail but must not return wrong records. The vault has
// DEEDKEEP_TEST_SCALE/10 documents with 1,000 words each. If DEEDKEEP_TEST_VAULT is set, the vault is kept in the
// directory with that name plus "-recovery".
func TestScaleIndexRecovery(t *testing.T) {
	m := recoveryMix(scaleSize(t))
	l := &indexLoss{t: t, dir: fillMix(t, m, "-recovery")}
	l.oracle = newOracle(t, m, l.dir)
	all := l.makeSearches(5)
	for n := range maxRecoverySearches {
		l.searches = append(l.searches, all[n*len(all)/maxRecoverySearches])
	}
	l.expect(l.searches)
	startServer(t, l.dir).stop(t) // compiles PDFium and migrates the schema, if necessary
	fmt.Printf("\n| of %d documents of %d words, with %d abstracts and orders | until %d responses are correct | rebuilt |\n"+
		"| --- | --- | --- |\n",
		m.Texts, vaulttest.TextWords, 2*m.Orders, maxRecoverySearches)

	l.removeIndex()
	buildTime := l.printRow("the index is deleted", l.timeRecovery())
	l.printRow("none: a start with an intact index", l.timeRecovery())
	l.removeIndex()
	p := startServer(t, l.dir)
	time.Sleep(buildTime / 2)
	p.kill()
	l.printRow("the server was killed halfway through indexing", l.timeRecovery())
	l.printRow("one segment is missing", l.removeSegment())
	for _, divisor := range []int64{2, 3, 5, 7, 11} {
		if l.printRow(fmt.Sprintf("one byte is changed, at 1/%d of the largest segment", divisor), l.flipByte(divisor)); l.rebuilt {
			break
		}
	}
}

// indexLoss is a vault whose search index the test deletes or damages.
type indexLoss struct {
	*oracle
	t        *testing.T
	dir      string
	searches []*searchCase
	rebuilt  bool // whether the server rebuilt the index after the last loss
}

// printRow prints a row of the results table and returns took.
func (l *indexLoss) printRow(loss string, took time.Duration) time.Duration {
	fmt.Printf("| %s | %.1f s | %v |\n", loss, took.Seconds(), l.rebuilt)
	return took
}

// removeIndex deletes the search index.
func (l *indexLoss) removeIndex() {
	if err := os.RemoveAll(filepath.Join(l.dir, "search")); err != nil {
		l.t.Fatalf("remove index: %v", err)
	}
}

// timeRecovery runs a server until all searches return the correct records. It returns how long that took.
func (l *indexLoss) timeRecovery() time.Duration {
	l.t.Helper()
	start := time.Now()
	p := startServer(l.t, l.dir)
	key := p.createKey(l.t, "recovery")
	for _, a := range l.searches {
		for !l.check(p, key, a) {
			if time.Since(start) > 2*time.Hour {
				l.t.Fatalf("GET %s still returns 503 after two hours", a.path(maxWanted))
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	took := time.Since(start)
	p.waitMerged(l.t, filepath.Join(l.dir, "search"))
	p.stop(l.t)
	l.rebuilt = strings.Contains(p.messages.String(), "building the search index")
	return took
}

// check sends a search and checks the response. It returns false if the index isn't available yet.
func (l *indexLoss) check(p *serverProcess, key string, a *searchCase) bool {
	l.t.Helper()
	status, resp := send(l.t, p, key, "GET", a.path(maxWanted), nil)
	if status == http.StatusServiceUnavailable {
		return false
	}
	var got searchResponse
	err := json.Unmarshal(resp, &got)
	if err != nil || status != http.StatusOK {
		l.t.Fatalf("GET %s: got %d %s, %v, want 200", a.path(maxWanted), status, resp, err)
	}
	err = l.checkResponse(a, got)
	if err == nil && len(a.want) <= maxWanted && a.first == "" {
		err = l.checkComplete(a, got)
	}
	if err != nil {
		l.t.Errorf("%s %s: %v", a.class, a.path(maxWanted), err)
	}
	return true
}

// kill kills the server and waits until it has exited.
func (p *serverProcess) kill() {
	_ = p.process.Process.Kill() // the process may have exited
	<-p.done
}

// largestSegment returns the path and size of the largest file in the search index.
func (l *indexLoss) largestSegment() (path string, size int64) {
	err := filepath.WalkDir(filepath.Join(l.dir, "search"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Size() > size {
			path, size = name, info.Size()
		}
		return err
	})
	if err != nil || size == 0 {
		l.t.Fatalf("largest segment: got %q of %d bytes, %v, want a file that is not empty", path, size, err)
	}
	return path, size
}

// removeSegment deletes the largest file of the index and returns how long the recovery took.
func (l *indexLoss) removeSegment() time.Duration {
	path, _ := l.largestSegment()
	if err := os.Remove(path); err != nil {
		l.t.Fatalf("remove file: %v", err)
	}
	return l.timeRecovery()
}

// flipByte changes the byte at offset size/divisor of the largest file of the index and returns how long the recovery
// took.
func (l *indexLoss) flipByte(divisor int64) time.Duration {
	path, size := l.largestSegment()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		l.t.Fatalf("open file: %v", err)
	}
	buf := make([]byte, 1)
	if _, err := f.ReadAt(buf, size/divisor); err != nil {
		l.t.Fatalf("read segment: %v", err)
	}
	buf[0] ^= 0x10
	_, err = f.WriteAt(buf, size/divisor)
	if closeErr := f.Close(); err != nil || closeErr != nil {
		l.t.Fatalf("write segment: %v, %v", err, closeErr)
	}
	return l.timeRecovery()
}
