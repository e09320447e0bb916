// Ocr-bench compares OCR with the tesseract command of the system on scans whose words are known.
//
//	apt-get install tesseract-ocr python3-pil python3-numpy fonts-dejavu-core fonts-freefont-ttf fonts-liberation
//	/usr/bin/python3 .ci/ocr-bench/scans.py /tmp/scans
//	go run ./.ci/ocr-bench -cache /tmp/engines /tmp/scans/*
//
// Each argument is a folder with a class of scans: images of one page, and beside each its words in a
// .txt file of the same name. The result is a Markdown table. Standard error gets the wrong words of
// each scan.
//
// Words are compared exactly, including case and punctuation. "Found" is the share of the known words
// that were read, in any sequence. The word error rate (WER) is the number of inserted, deleted, and
// replaced words (Levenshtein distance) per known word. The last column is the WER of deedkeep minus
// that of the better tesseract run, in percentage points. The seconds are CPU time per scan, so that
// other work on the computer matters little. The memory is the peak resident memory of a process.
//
// OCR runs as in the server: one sandbox worker at low priority, with its defaults and English. Native
// Tesseract runs on one core, with the English data of the system (Debian's are tessdata_fast). The
// command needs Linux.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"deedkeep/app/document"
	"deedkeep/app/sandbox"
	"deedkeep/web"
)

// mediaTypes are the types of images that are read, by extension.
var mediaTypes = map[string]string{".bmp": "image/bmp", ".jpg": "image/jpeg", ".png": "image/png", ".tif": "image/tiff"}

// output is what a reader read on some scans.
type output struct {
	Texts  []string // of each scan; "" if it could not be read
	CPU    time.Duration
	Memory int64 // in bytes
}

// add adds what a process used.
func (o *output) add(u *syscall.Rusage) {
	o.CPU += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	o.Memory = max(o.Memory, u.Maxrss<<10)
}

// score is the result of a reader on some scans.
type score struct {
	scans, words, found, errors int
	cpu                         time.Duration
	memory                      int64
}

func main() {
	if sandbox.IsWorker(os.Args) {
		os.Exit(sandbox.RunWorker(sandbox.Assets{PDFium: web.PDFium, Tesseract: web.Tesseract, English: web.English}))
	}
	cache := flag.String("cache", "", "cache `folder` for compiled engines")
	native := flag.String("native", "1,3", "page segmentation modes of the tesseract command, separated by commas")
	child := flag.Bool("child", false, "used internally: read these scans and print JSON")
	flag.Parse()
	err := error(nil)
	if *child {
		err = readAndPrint(flag.Args(), *cache)
	} else {
		err = compare(flag.Args(), *cache, strings.FieldsFunc(*native, func(r rune) bool { return r == ',' }))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ocr-bench:", err)
		os.Exit(1)
	}
}

// compare measures the classes and prints the table.
func compare(classes []string, cache string, modes []string) error {
	if len(classes) == 0 {
		return errors.New("no folders with scans")
	}
	fmt.Print("| class | scans | words | deedkeep: found, WER, CPU, memory |")
	for _, mode := range modes {
		fmt.Printf(" tesseract --psm %s |", mode)
	}
	fmt.Printf(" difference |\n%s|\n", strings.Repeat("| --- ", 5+len(modes)))
	total := make([]score, 1+len(modes))
	for _, class := range classes {
		scores, err := measure(class, cache, modes)
		if err != nil {
			return fmt.Errorf("%s: %w", class, err)
		}
		printRow(filepath.Base(class), scores)
		for i, s := range scores {
			total[i].add(s)
		}
	}
	printRow("all", total)
	return nil
}

func printRow(name string, scores []score) {
	fmt.Printf("| %s | %d | %d |", name, scores[0].scans, scores[0].words)
	best := math.NaN() // without a native run
	for i, s := range scores {
		fmt.Printf(" %.1f%%, %.1f%%, %.1f s, %d MB |", s.percent(s.found), s.percent(s.errors), s.cpu.Seconds()/float64(s.scans), s.memory/1e6)
		if wer := s.percent(s.errors); i == 1 || i > 1 && wer < best {
			best = wer
		}
	}
	fmt.Printf(" %+.1f |\n", scores[0].percent(scores[0].errors)-best)
}

// measure reads the scans of a class with deedkeep and with tesseract in each mode.
func measure(class, cache string, modes []string) ([]score, error) {
	scans, known, err := list(class)
	if err != nil {
		return nil, err
	}
	scores := make([]score, 1+len(modes))
	for i := range scores {
		var o output
		name := "deedkeep"
		if i == 0 {
			o, err = readOwn(scans, cache)
		} else {
			name = "tesseract --psm " + modes[i-1]
			o, err = readNative(scans, modes[i-1])
		}
		if err != nil {
			return nil, err
		}
		scores[i] = score{cpu: o.CPU, memory: o.Memory}
		for j, text := range o.Texts {
			scores[i].compare(known[j], strings.Fields(text), scans[j]+": "+name)
		}
	}
	return scores, nil
}

// list returns the scans of a class and the words of each.
func list(class string) (scans []string, known [][]string, err error) {
	entries, err := os.ReadDir(class)
	if err != nil {
		return nil, nil, err
	}
	for _, entry := range entries {
		path := filepath.Join(class, entry.Name())
		if mediaTypes[filepath.Ext(path)] == "" {
			continue
		}
		text, err := os.ReadFile(strings.TrimSuffix(path, filepath.Ext(path)) + ".txt")
		if err != nil {
			return nil, nil, err
		}
		scans, known = append(scans, path), append(known, strings.Fields(string(text)))
	}
	if len(scans) == 0 {
		return nil, nil, fs.ErrNotExist
	}
	return scans, known, nil
}

// readOwn reads the scans with deedkeep. It does so in a process of its own, so that the CPU time and
// memory of its workers can be measured even if they are replaced.
func readOwn(scans []string, cache string) (o output, err error) {
	cmd := exec.Command(os.Args[0], append([]string{"-child", "-cache", cache}, scans...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return o, err
	}
	return o, json.Unmarshal(out, &o)
}

// readAndPrint reads the scans in one sandbox worker and prints the output as JSON.
func readAndPrint(scans []string, cache string) error {
	var o output
	pool := sandbox.Open(sandbox.Options{CacheDir: cache, Workers: 1, LowPriority: true})
	for _, path := range scans {
		content, err := os.ReadFile(path)
		if err != nil {
			return errors.Join(err, pool.Close())
		}
		ext := filepath.Ext(path)
		page, err := pool.ReadPage(context.Background(), sandbox.Request{
			Doc: bytes.NewReader(content), Size: int64(len(content)), MIME: mediaTypes[ext], Ext: ext[1:],
		}, 1, document.ExtractLimits{})
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", path, err)
		}
		o.Texts = append(o.Texts, page.Text())
	}
	if err := pool.Close(); err != nil {
		return err
	}
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u); err != nil {
		return err
	}
	o.add(&u)
	return json.NewEncoder(os.Stdout).Encode(o)
}

// readNative reads the scans with the tesseract command.
func readNative(scans []string, mode string) (o output, err error) {
	for _, path := range scans {
		cmd := exec.Command("tesseract", path, "-", "--psm", mode)
		cmd.Env = append(os.Environ(), "OMP_THREAD_LIMIT=1")
		out, err := cmd.Output()
		if cmd.ProcessState == nil {
			return o, err
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: tesseract --psm %s: %v\n", path, mode, err)
		}
		o.Texts = append(o.Texts, string(out))
		o.add(cmd.ProcessState.SysUsage().(*syscall.Rusage))
	}
	return o, nil
}

func (s *score) add(t score) {
	s.scans += t.scans
	s.words += t.words
	s.found += t.found
	s.errors += t.errors
	s.cpu += t.cpu
	s.memory = max(s.memory, t.memory)
}

// percent returns n as a percentage of the known words.
func (s score) percent(n int) float64 { return 100 * float64(n) / float64(max(s.words, 1)) }

// compare adds a scan with the known words, on which the words got were read. It prints the words that
// were not found and those that are not on the scan.
func (s *score) compare(known, got []string, name string) {
	count := map[string]int{}
	for _, w := range got {
		count[w]++
	}
	var missed, extra []string
	for _, w := range known {
		if count[w]--; count[w] < 0 {
			missed = append(missed, w)
		}
	}
	for _, w := range slices.Backward(got) {
		if count[w]--; count[w] >= 0 {
			extra = append(extra, w)
		}
	}
	slices.Reverse(extra)
	wrong := distance(known, got)
	fmt.Fprintf(os.Stderr, "%s: %d of %d words wrong, missed %q, extra %q\n", name, wrong, len(known), missed, extra)
	s.add(score{scans: 1, words: len(known), found: len(known) - len(missed), errors: wrong})
}

// distance returns the least number of insertions, deletions, and replacements that turn a into b.
func distance(a, b []string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, w := range a {
		last := slices.Clone(row)
		row[0] = i + 1
		for j, v := range b {
			row[j+1] = last[j]
			if v != w {
				row[j+1] = 1 + min(last[j], last[j+1], row[j])
			}
		}
	}
	return row[len(b)]
}
