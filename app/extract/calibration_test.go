package extract

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"deedkeep/app/model"
)

var fit = flag.Bool("fit", false, "write calibration.json")

// readField is a field that was read on a scan.
type readField struct {
	Field
	key   string
	name  string
	scan  scan
	right bool
}

// scan is a generated document as OCR read it, and what it states.
type scan struct {
	Set, Form string
	Pages     [][]Line
	Fields    map[string][]string
}

func (s scan) pages() (pages []Page) {
	for _, lines := range s.Pages {
		pages = append(pages, Page{lines})
	}
	return pages
}

// readScans returns the scans of a set.
func readScans(t testing.TB, set string) (list []scan) {
	t.Helper()
	file, err := os.Open("testdata/scans.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(unpacked); d.More(); {
		var s scan
		if err := d.Decode(&s); err != nil {
			t.Fatal(err)
		}
		if s.Set == set {
			list = append(list, s)
		}
	}
	return list
}

// readSet returns the fields that are read on the scans of a set. The state is left out where the form doesn't say which one is
// right, and so is what it says about the consideration.
func readSet(t *testing.T, set string) (list []readField) {
	t.Helper()
	for _, scan := range readScans(t, set) {
		for name, field := range Read(scan.pages(), DefaultRules(), model.NewDocumentTypes(), time.Now()) {
			isUnknown := name == State && strings.HasPrefix(scan.Form, "unseen-") || name == ConsiderationText
			if isUnknown || field.Confidence == nil {
				continue
			}
			list = append(list, readField{field, field.calibrationKey(name), name, scan, isRight(name, field.Values, scan.Fields[name])})
		}
	}
	return list
}

// isRight reports whether values are those of the document. Case and punctuation of names don't count, but blanks in a parcel
// number do.
func isRight(name string, got, want []string) bool {
	plain := func(text string) string {
		switch name {
		case Book, PageNumber:
			return model.NormalizeRecordingNumber(text)
		case Consideration, RecordedTime, Parcels:
			return text
		case State:
			return model.FoldState(text)
		}
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return unicode.ToUpper(r)
			}
			return -1
		}, text)
	}
	return slices.EqualFunc(got, want, func(g, w string) bool {
		return slices.ContainsFunc(strings.Split(w, "|"), func(w string) bool { return plain(w) == plain(g) })
	})
}

// minBlock is how many fields a step must have.
const minBlock = 12

// fitSteps returns the increasing steps that fit the fields best, each with at least minBlock fields.
func fitSteps(list []readField) (steps []step) {
	slices.SortStableFunc(list, func(a, b readField) int { return cmp.Compare(a.lowest, b.lowest) })
	type block struct{ from, right, count int }
	var blocks []block
	share := func(b block) float64 { return float64(b.right+1) / float64(b.count+2) }
	for n, f := range list {
		right := 0
		if f.right {
			right = 1
		}
		if n > 0 && (list[n-1].lowest == f.lowest || blocks[len(blocks)-1].count < minBlock) {
			last := &blocks[len(blocks)-1]
			last.right, last.count = last.right+right, last.count+1
		} else {
			blocks = append(blocks, block{f.lowest, right, 1})
		}
	}
	for n := len(blocks) - 1; n > 0; n-- {
		if n >= len(blocks) || share(blocks[n]) > share(blocks[n-1]) && blocks[n].count >= minBlock {
			continue
		}
		blocks[n-1].right, blocks[n-1].count = blocks[n-1].right+blocks[n].right, blocks[n-1].count+blocks[n].count
		blocks = slices.Delete(blocks, n, n+1)
		n = len(blocks)
	}
	for n, b := range blocks {
		from := b.from
		if n == 0 {
			from = 0
		}
		steps = append(steps, step{from, int(100 * share(b))})
	}
	return steps
}

// TestCalibration checks the confidence on scans of forms for which neither the rules were written nor the confidence was
// fitted: of the fields shown with at least 90%, nine of ten are right.
func TestCalibration(t *testing.T) {
	if *fit {
		byKey := map[string][]readField{}
		for _, f := range readSet(t, "fit") {
			byKey[f.key] = append(byKey[f.key], f)
		}
		steps := map[string][]step{}
		for _, key := range slices.Sorted(maps.Keys(byKey)) {
			if strings.HasSuffix(key, " again") && len(byKey[key]) < minBlock {
				continue // like those that occur once
			}
			steps[key] = fitSteps(byKey[key])
			t.Logf("%-15s %4d fields %v", key, len(byKey[key]), steps[key])
		}
		raw, err := json.MarshalIndent(steps, "", "\t")
		if err == nil {
			err = os.WriteFile("calibration.json", append(raw, '\n'), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	list := readSet(t, "heldout")
	t.Log("confidence of OCR, which was shown before")
	reliability(t, list, func(f readField) int { return f.mean })
	t.Log("calibrated")
	right, count := reliability(t, list, func(f readField) int { return *f.Confidence })
	if count == 0 || 10*right < 9*count {
		t.Errorf("of %d fields shown with at least 90%%, %d are right, want nine of ten", count, right)
	}
	all, doubtful := countDoubtful(t, list)
	if 10*doubtful[0] < 8*all[0] || 10*doubtful[1] > all[1] {
		t.Error("want at least 80% of the wrong fields doubtful, and at most 10% of the right ones")
	}
	t.Log("the newest forms")
	list = slices.DeleteFunc(list, func(f readField) bool { return f.scan.Form < firstNew })
	right, count = reliability(t, list, func(f readField) int { return *f.Confidence })
	if count == 0 || 10*right < 9*count {
		t.Errorf("of %d fields of new forms shown with at least 90%%, %d are right, want nine of ten", count, right)
	}
	countDoubtful(t, list)
}

// firstNew is the number of the first of the newest forms.
const firstNew = "27"

// countDoubtful returns how many fields are wrong and how many are right, and how many of them are doubtful.
func countDoubtful(t *testing.T, list []readField) (all, doubtful [2]int) {
	t.Helper()
	for _, f := range list {
		n := 0
		if f.right {
			n = 1
		}
		all[n]++
		if f.Doubtful {
			doubtful[n]++
		}
	}
	t.Logf("doubtful: %d of %d wrong fields (%d%%), %d of %d right ones (%d%%)", doubtful[0], all[0], 100*doubtful[0]/max(all[0], 1),
		doubtful[1], all[1], 100*doubtful[1]/max(all[1], 1))
	return all, doubtful
}

// reliability logs how many fields are right by the confidence shown, in ten steps. It returns the number of fields with at
// least 90%, and of those that are right.
func reliability(t *testing.T, list []readField, shown func(readField) int) (right, count int) {
	t.Helper()
	var all, good [10]int
	for _, f := range list {
		n := min(shown(f)/10, 9)
		all[n]++
		if f.right {
			good[n]++
		}
	}
	for n := range all {
		if all[n] > 0 {
			t.Logf("%3d to %3d%%: %4d of %4d right (%d%%)", 10*n, 10*n+9+n/9, good[n], all[n], 100*good[n]/all[n])
		}
	}
	return good[9], all[9]
}
