package vaulttest

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"deedkeep/app/instance"
	"deedkeep/app/search"
	"deedkeep/app/search/query"
)

// asked gives what a text finds as "noun id", sorted.
func SearchHits(t testing.TB, v *instance.Instance, text string) (list []string, err error) {
	t.Helper()
	answer, err := v.Search.SearchIndex(t.Context(), query.Query{Text: text, Limit: 100})
	for _, h := range answer.Hits {
		list = append(list, fmt.Sprint([]string{"", "abstract", "order", "file"}[h.Kind], " ", h.ID))
	}
	slices.Sort(list)
	return list, err
}

// indexes brings the index to the state of the records.
func WaitIndexed(t testing.TB, v *instance.Instance) search.State {
	t.Helper()
	s, err := v.Search.Await(t.Context(), func(uint64, uint64) {})
	for n := 0; err == nil && s.PendingChanges > 0 && n < 100; n++ { // a server has processed documents meanwhile
		s, err = v.Search.Await(t.Context(), func(uint64, uint64) {})
	}
	if err != nil || !s.Ready || s.Building || s.PendingChanges != 0 || s.Failure != "" {
		t.Fatalf("the index is %+v, %v", s, err)
	}
	return s
}

// findsSoon asks until a text finds what is wanted, and tells how long that took.
func WaitSearchHits(t testing.TB, v *instance.Instance, text string, want ...string) time.Duration {
	t.Helper()
	for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		got, err := SearchHits(t, v, text)
		if err == nil && slices.Equal(got, want) {
			return time.Since(begun)
		}
		if time.Since(begun) > 20*time.Second {
			t.Fatalf("%q finds %v, %v; want %v", text, got, err, want)
		}
	}
}

// closing is a vault that the test itself closes, without a look at it.
func OpenUnchecked(t testing.TB, opts instance.Options) *instance.Instance {
	t.Helper()
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TextDoc(name, text string) Doc { return Doc{name, []byte(text + "\n")} }

func FlipByte(at float64) func(string) error {
	return func(path string) error {
		raw, err := os.ReadFile(path)
		if err != nil || len(raw) == 0 {
			return err
		}
		raw[int(at*float64(len(raw)-1))] ^= 0x40
		return os.WriteFile(path, raw, 0o600)
	}
}
