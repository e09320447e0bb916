// Search-bench compares the search index of deedkeep with bleve and SQLite FTS5: the time, memory, and
// disk space to index the same generated records, and the latency of the same searches.
//
//	cd .ci/search-bench && go run . -records 100000 -texts 20000
//
// Each engine runs in a process of its own, so that its memory can be measured (Linux). The result is a
// Markdown table. Compare the CPU time of two engines rather than the elapsed time if the machine
// does other work. The engines:
//
//	own          app/search/query, in batches like those of app/search
//	bleve        bleve through its own interface, on scorch, in batches of 12 MB of text
//	sqlite       FTS5 (modernc.org/sqlite), newest first
//	sqlite-bm25  FTS5, by relevance
//
// The searches have the same meaning in each engine, except for typing errors, which FTS5 has no
// search for. Each also counts its matches. The last row says how many counts differ from those of the
// first engine. Some do: if few records match, own also finds words with a typing error.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// engine is a search engine under test.
type engine interface {
	put(r record) error // adds or replaces a record; the engine writes batches of its choice
	flush() error       // makes all records searchable and durable
	search(s search) (total int, err error)
	close() error
}

// errNotSupported is returned by engine.search for a class that the engine has no search for.
var errNotSupported = errors.New("not supported")

// maxHits is the number of hits of each search.
const maxHits = 26

var openEngine = map[string]func(dir string) (engine, error){
	"own":         openOwn,
	"bleve":       openBleve,
	"sqlite":      func(dir string) (engine, error) { return openSQLite(dir, "rowid DESC") },
	"sqlite-bm25": func(dir string) (engine, error) { return openSQLite(dir, "rank") },
}

// result is what a run of one engine measured.
type result struct {
	IndexSeconds, CPUSeconds float64
	PeakMB, DiskMB, OpenMS   float64
	Latency                  map[string][]time.Duration // of each search, by class
	Totals                   []int                      // of each search; -1 if the engine doesn't support it
}

func main() {
	engines := flag.String("engines", "own,bleve,sqlite,sqlite-bm25", "engines to compare, separated by commas")
	records := flag.Int("records", 100_000, "number of records")
	texts := flag.Int("texts", 20_000, "number of records with a text of 1,000 words")
	searches := flag.Int("searches", 30, "number of searches of each class")
	dir := flag.String("dir", "", "folder for the indexes; default: a temporary one")
	child := flag.String("child", "", "used internally: measure this engine and print JSON")
	flag.Parse()
	c := newCorpus(*records, *texts)
	err := error(nil)
	if *child != "" {
		err = measureAndPrint(*child, *dir, c, *searches)
	} else {
		err = compare(strings.Split(*engines, ","), *dir, c, *searches)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "search-bench:", err)
		os.Exit(1)
	}
}

// compare measures each engine in a child process and prints the table.
func compare(engines []string, dir string, c *corpus, searches int) error {
	root, err := os.MkdirTemp(dir, "search-bench")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(root) }()
	var results []result
	for _, name := range engines {
		cmd := exec.Command(os.Args[0], "-child", name, "-dir", filepath.Join(root, name), "-records", strconv.Itoa(c.records),
			"-texts", strconv.Itoa(c.texts), "-searches", strconv.Itoa(searches))
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		var r result
		if err := json.Unmarshal(out, &r); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		results = append(results, r)
	}
	fmt.Printf("%d records, %d with a text of %d words; %d processors, load %s\n\n", c.records, c.texts, textWords, runtime.NumCPU(), load())
	printTable(engines, results)
	return nil
}

// printTable prints the results as a Markdown table.
func printTable(engines []string, results []result) {
	row := func(name string, cell func(r result) string) {
		fmt.Printf("| %s |", name)
		for _, r := range results {
			fmt.Printf(" %s |", cell(r))
		}
		fmt.Println()
	}
	fmt.Printf("| | %s |\n|%s\n", strings.Join(engines, " | "), strings.Repeat(" --- |", len(engines)+1))
	number := func(value func(r result) float64) func(r result) string {
		return func(r result) string { return fmt.Sprintf("%.0f", value(r)) }
	}
	row("seconds to index", number(func(r result) float64 { return r.IndexSeconds }))
	row("processor seconds to index", number(func(r result) float64 { return r.CPUSeconds }))
	row("peak memory while indexing, MB", number(func(r result) float64 { return r.PeakMB }))
	row("size on disk, MB", number(func(r result) float64 { return r.DiskMB }))
	row("open, ms", number(func(r result) float64 { return r.OpenMS }))
	for _, class := range append(classNames(), changeClass) {
		row(class+", p50 / p95 / max, ms", func(r result) string {
			l := r.Latency[class]
			if len(l) == 0 {
				return "-"
			}
			slices.Sort(l)
			return fmt.Sprintf("%.1f / %.1f / %.1f", ms(l[len(l)/2]), ms(l[len(l)*95/100]), ms(l[len(l)-1]))
		})
	}
	row("searches with another count than the first engine", func(r result) string {
		differ := 0
		for i, n := range r.Totals {
			if n >= 0 && n != results[0].Totals[i] {
				differ++
			}
		}
		return fmt.Sprintf("%d of %d", differ, len(r.Totals))
	})
}

// changeClass is the time from a change of one record until it is durable and found.
const changeClass = "change of one record until found"

// measureAndPrint measures an engine and prints the result as JSON.
func measureAndPrint(name, dir string, c *corpus, searches int) error {
	open, ok := openEngine[name]
	if !ok {
		return fmt.Errorf("no engine %q", name)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	r := result{Latency: map[string][]time.Duration{}}
	if err := r.index(open, dir, c); err != nil {
		return err
	}
	start := time.Now()
	e, err := open(dir)
	if err != nil {
		return err
	}
	r.OpenMS = ms(time.Since(start))
	if err := errors.Join(r.searchAll(e, c, searches), r.change(e, c), e.close()); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

// index indexes all records in an empty index and closes it.
func (r *result) index(open func(dir string) (engine, error), dir string, c *corpus) error {
	e, err := open(dir)
	if err != nil {
		return err
	}
	start, used := time.Now(), cpu()
	for n := range c.records {
		if err := e.put(c.record(n)); err != nil {
			return errors.Join(err, e.close())
		}
	}
	if err := errors.Join(e.flush(), e.close()); err != nil {
		return err
	}
	r.IndexSeconds, r.CPUSeconds = time.Since(start).Seconds(), (cpu() - used).Seconds()
	r.PeakMB = peakMB()
	r.DiskMB, err = diskMB(dir)
	return err
}

func (r *result) searchAll(e engine, c *corpus, searches int) error {
	if _, err := e.search(search{class: commonWord, words: []string{c.word(0)}}); err != nil { // warm up
		return err
	}
	for _, s := range c.searches(searches) {
		start := time.Now()
		total, err := e.search(s)
		switch {
		case errors.Is(err, errNotSupported):
			total = -1
		case err != nil:
			return fmt.Errorf("%s %q: %w", s.class, s.words, err)
		default:
			r.Latency[s.class] = append(r.Latency[s.class], time.Since(start))
		}
		r.Totals = append(r.Totals, total)
	}
	return nil
}

// change changes records one at a time and searches for each change.
func (r *result) change(e engine, c *corpus) error {
	for n := range min(30, c.records) {
		changed := c.record(c.records - 1 - n)
		changed.number = fmt.Sprintf("1999%06d", n)
		start := time.Now()
		if err := errors.Join(e.put(changed), e.flush()); err != nil {
			return err
		}
		if total, err := e.search(search{class: exactNumber, words: []string{changed.number}}); err != nil || total != 1 {
			return fmt.Errorf("search for a changed record: %d matches, %w", total, cmp.Or(err, errors.New("want 1")))
		}
		r.Latency[changeClass] = append(r.Latency[changeClass], time.Since(start))
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// cpu returns the CPU time that this process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peakMB returns the peak of the resident memory of this process, including mapped files.
func peakMB() float64 {
	raw, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(raw), "VmHWM:")
	kb, _ := strconv.ParseFloat(strings.Fields(rest + " 0")[0], 64)
	return kb / 1024
}

func load() string {
	raw, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(raw), " ")
	return first
}

func diskMB(dir string) (float64, error) {
	bytes := int64(0)
	err := filepath.Walk(dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return err
	})
	return float64(bytes) / 1e6, err
}
