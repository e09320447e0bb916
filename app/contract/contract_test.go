package contract

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"deedkeep/app/vaulttest"
)

const (
	defaultSeed = 20260529
	// roundRequests is the number of requests in every round except the default one. A failure is reproduced from its seed.
	roundRequests = 6000
	// maxTries is how many valid requests of an operation are sent at the beginning of a round until one succeeds. A valid
	// request fails if its values don't fit the records, such as the ID of a document of another abstract.
	maxTries = 20
)

// TestContract runs one round, or rounds for the duration in DEEDKEEP_FUZZ_CONTRACT.
func TestContract(t *testing.T) {
	api := readDescription(t)
	seed, deadline := uint64(defaultSeed), time.Now()
	maxRequests := defaultRequests
	if text := os.Getenv("DEEDKEEP_FUZZ_SEED"); text != "" {
		maxRequests = roundRequests
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("DEEDKEEP_FUZZ_SEED: %v", err)
		}
	}
	if text := os.Getenv("DEEDKEEP_FUZZ_CONTRACT"); text != "" {
		duration, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("DEEDKEEP_FUZZ_CONTRACT: %v", err)
		}
		maxRequests, deadline = roundRequests, deadline.Add(duration)
	}
	all, start := newTable(), time.Now()
	for first := true; first || time.Now().Before(deadline) && !t.Failed(); first, seed = false, seed+1 {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { runRound(t, api, seed, maxRequests, all) })
	}
	t.Logf("%d requests in %v\n%s", all.sum(), time.Since(start).Round(time.Millisecond), all)
}

// runRound runs one round with a new vault.
func runRound(t *testing.T, api *api, seed uint64, maxRequests int, all *table) {
	f := &fuzzer{T: t, api: api, seed: seed, rng: rand.New(rand.NewPCG(seed, 0)), testServer: open(t, seed), state: newState(),
		table: newTable()}
	for _, o := range api.first() {
		for _, as := range kinds {
			f.step(o, as, 0)
		}
		// Later operations need the records of this one.
		for range maxTries {
			if f.table.succeeded(o) > 0 || f.Failed() {
				break
			}
			f.step(o, o.authorizedKind(), 0)
		}
	}
	for f.count < maxRequests && !f.Failed() {
		o := pick(f.rng, api.operations)
		f.step(o, f.kind(o), f.mistakes())
	}
	f.checkEnd()
	for _, o := range api.operations {
		f.table.expect(t, o)
	}
	all.add(f.table)
}

// fuzzer generates and sends the requests of one round.
type fuzzer struct {
	*testing.T
	*testServer
	api   *api
	state *state
	table *table
	seed  uint64
	rng   *rand.Rand
	count int
	about *vaultRecord // the abstract that the values of a request belong to, or the record in the path

	indexed bool // at least once
}

// kind selects the key of a request, usually one with permission.
func (f *fuzzer) kind(o *operation) string {
	if f.percent(75) {
		return o.authorizedKind()
	}
	return pick(f.rng, kinds)
}

// mistakes selects the number of errors in a request.
func (f *fuzzer) mistakes() int {
	switch n := f.rng.IntN(10); {
	case n < 4:
		return 0
	case n < 8:
		return 1
	default:
		return 2
	}
}

// percent reports true in the given percentage of calls.
func (f *fuzzer) percent(percent int) bool { return f.rng.IntN(100) < percent }

func pick[T any](rng *rand.Rand, from []T) T { return from[rng.IntN(len(from))] }

// step generates a request, sends it, and checks the response.
func (f *fuzzer) step(o *operation, as string, mistakes int) {
	if again := f.state.again; again != nil && mistakes == 0 && as == "full" && f.percent(5) {
		f.state.again = nil
		f.do(again)
		return
	}
	r := f.make(o, as)
	for range mistakes {
		f.corrupt(r)
	}
	f.do(r)
}

func (f *fuzzer) do(r *request) {
	f.count++
	if searches := r.op.id == "search" || strings.Contains(r.target, "q="); searches && (!f.indexed || f.percent(15)) {
		f.index(f.T)
		f.indexed = true
	}
	f.readPages(r)
	if err := f.vault.Events.FlushViews(f.Context()); err != nil { // or a request that reads the audit log does it
		f.Errorf("write the collected view events: %v", err)
	}
	before := f.commits()
	got, err := f.send(r)
	if err != nil {
		f.Fatalf("send the request: %v\n%s", err, f.describe(r, nil))
	}
	f.table.count(r, got.status)
	if failures := f.checkReply(r, got, f.commits()-before); len(failures) > 0 {
		f.Errorf("%s\n%s", strings.Join(failures, "\n"), f.describe(r, got))
		return
	}
	f.learn(r, got)
	if f.percent(25) {
		f.readBack(r, got)
	}
}

// readPages usually reads the pages of a file before it is downloaded as a searchable PDF. Only the fuzzer does so,
// because the server does no background work.
func (f *fuzzer) readPages(r *request) {
	if r.op.id != "downloadSearchableFile" || r.record == nil || r.record.hidden() || !f.percent(70) {
		return
	}
	id, err := strconv.ParseUint(r.record.id, 10, 64)
	if err != nil {
		f.Fatalf("ID of a file = %q", r.record.id)
	}
	vaulttest.ReadPages(f.T, f.vault, id)
}

// describe returns a request in a form that can be repeated, and its response.
func (f *fuzzer) describe(r *request, got *reply) string {
	s := fmt.Sprintf("request %d of DEEDKEEP_FUZZ_SEED=%d, %s as %s, %v\n%s", f.count, f.seed, r.op.id, r.as, r.mistakes, r.curl(f.testServer))
	if got != nil {
		s += fmt.Sprintf("\n%d %v\n%.2000s", got.status, got.header, got.body)
	}
	return s
}

// table counts requests by operation, type of key, and status class.
type table struct {
	cells map[string]map[string]map[int]int
}

func newTable() *table { return &table{map[string]map[string]map[int]int{}} }

func (t *table) count(r *request, status int) { t.increment(r.op.id, r.as, status/100, 1) }

func (t *table) increment(op, as string, class, n int) {
	if t.cells[op] == nil {
		t.cells[op] = map[string]map[int]int{}
	}
	if t.cells[op][as] == nil {
		t.cells[op][as] = map[int]int{}
	}
	t.cells[op][as][class] += n
}

func (t *table) add(other *table) {
	for op, row := range other.cells {
		for as, cell := range row {
			for class, n := range cell {
				t.increment(op, as, class, n)
			}
		}
	}
}

func (t *table) sum() (n int) {
	for _, row := range t.cells {
		for _, cell := range row {
			for _, c := range cell {
				n += c
			}
		}
	}
	return n
}

// succeeded returns the number of successful requests of an operation.
func (t *table) succeeded(o *operation) (n int) {
	for _, as := range kinds {
		cell := t.cells[o.id][as]
		n += cell[2]
		if o.id == "downloadFile" {
			n += cell[3]
		}
	}
	return n
}

// expect fails if an operation was not called with every type of key, or never succeeded.
func (t *table) expect(tb testing.TB, o *operation) {
	tb.Helper()
	for _, as := range kinds {
		if len(t.cells[o.id][as]) == 0 {
			tb.Errorf("requests of %s with the key %q = 0, want some", o.id, as)
		}
	}
	if t.succeeded(o) == 0 {
		tb.Errorf("successful requests of %s = 0, want some", o.id)
	}
}

func (t *table) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-24s %9s %9s %9s %9s   by key\n", "operation", "requests", "2xx", "3xx", "4xx")
	var names []string
	for op := range t.cells {
		names = append(names, op)
	}
	slices.SortFunc(names, cmp.Compare)
	for _, op := range names {
		classes, keys := map[int]int{}, ""
		for _, as := range kinds {
			n := 0
			for class, c := range t.cells[op][as] {
				classes[class] += c
				n += c
			}
			keys += fmt.Sprintf(" %s %d", as, n)
		}
		fmt.Fprintf(&b, "%-24s %9d %9d %9d %9d  %s\n", op, classes[2]+classes[3]+classes[4]+classes[5], classes[2], classes[3], classes[4], keys)
	}
	return b.String()
}
