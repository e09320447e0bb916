package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// pathAfter returns the record that a path of the description begins with, and the rest of the path, such as "/order".
// It returns nil if the record is unknown.
func (s *state) pathAfter(path string, params map[string]string) (t *vaultRecord, rest string) {
	for recordKind, start := range recordPaths {
		after, found := strings.CutPrefix("/v1"+path, start+"/{")
		if !found {
			continue
		}
		name, rest, _ := strings.Cut(after, "}")
		return s.byID[recordKind+" "+params[name]], rest
	}
	return nil, ""
}

// tagOf returns the name of the ETag that belongs to the rest of a path. The parts of an abstract have ETags of their own.
func tagOf(rest string) string {
	if rest == "/restore" || rest == "/files" {
		return ""
	}
	return rest
}

// certificate learns the document of a certificate, whose content no request sent.
func (f *fuzzer) certificate(v map[string]any, of *vaultRecord) {
	id, digest := v["file_id"], v["sha256"]
	if _, certifies := v["indices_searched"]; !certifies || id == nil || digest == nil {
		return
	}
	f.state.sent[fmt.Sprint(digest)] = true
	if n, _ := strconv.Atoi(fmt.Sprint(v["id"])); of != nil {
		of.certificates = max(of.certificates, n)
	}
	if f.state.byID["file "+fmt.Sprint(id)] == nil {
		file := f.state.vaultRecord("file", fmt.Sprint(id))
		file.of, file.digest = of, fmt.Sprint(digest)
	}
}

// documentMoved records that a change of a document moved it to an abstract or a folder.
func (f *fuzzer) documentMoved(r *request, file *vaultRecord) {
	var members map[string]any
	if json.Unmarshal(r.body, &members) != nil {
		return // an empty body changes nothing
	}
	if id, sent := members["abstract_id"]; sent && id != nil && id != "" {
		file.of = f.state.byID["abstract "+fmt.Sprint(id)]
	} else if folder, changed := members["folder_id"]; sent || changed && folder != nil {
		file.of = nil
	}
}

// ofAbstract selects a record of the abstract that the request is about.
func (f *fuzzer) ofAbstract(recordKind string) any {
	var own []*vaultRecord
	for _, t := range f.state.records[recordKind] {
		if f.about != nil && t.of == f.about && !t.gone {
			own = append(own, t)
		}
	}
	if len(own) == 0 {
		return nil
	}
	return number(pick(f.rng, own).id)
}

// aboutAbstract returns the abstract of a record, or the record itself.
func aboutAbstract(t *vaultRecord) *vaultRecord {
	if t == nil || t.of == nil {
		return t
	}
	return t.of
}

// reference returns a value that refers to a record, or has a format that the description doesn't express; else nil.
func (f *fuzzer) reference(name string) any {
	switch name {
	case "file_id":
		return f.ofAbstract("file")
	case "instrument_id":
		return f.ofAbstract("instrument")
	case "order_id", "abstract_id":
		if t := f.state.pickRecord(f.rng, strings.TrimSuffix(name, "_id"), false); t != nil {
			return t.id
		}
	case "type_id":
		return 1 + f.rng.IntN(max(1, len(f.state.words["type"])))
	case "searcher", "examiner":
		return 1
	default:
		if list := titleWords[name]; len(list) > 0 {
			return pick(f.rng, list)
		}
	}
	return nil
}

// titleWords are values of the title work by name.
var titleWords = map[string][]any{
	"recorded_time": {"14:05", "2:05 PM"}, "effective_time": {"08:00", "8:00 AM"}, "consideration": {"$387,500", "120000.00", "1"},
	"consideration_text": {"$10 & OVC", "love and affection", nil}, "pages": {nil, "1"}, "page_to": {nil},
	"from": {"1966-01-01", nil}, "to": {"2026-05-28", nil}, "search_from": {"1966-01-01", nil}, "effective_date": {"2026-05-28"},
	"recorded": {"2001-05-02", "2019-04-17"}, "expires": {"2026-01-31", "2031-06-30", nil},
}

// sequence lists the instruments of the abstract in a new sequence.
func (f *fuzzer) sequence() []any {
	list := []any{}
	for _, t := range f.state.records["instrument"] {
		if t.of == f.about && !t.gone {
			list = append(list, number(t.id))
		}
	}
	f.rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// runsheetFile returns a part with a runsheet, usually a valid one. The server stores nothing of it, so it is not in f.state.sent.
func (f *fuzzer) runsheetFile(name string) part {
	rows := []string{"Warranty Deed,2019-04-17,2417,0883,Smith & Sons,Jones", "Mortgage,2019-04-17,2417,0890,Jones,First Bank",
		"Deed of Gift,tomorrow,,,,", `"Easement or Right of Way",,12,7,"Cole, Bea; Reed, Amos",Elm Power`}
	content := "Type,Recorded,Book,Page,Grantors,Grantees\r\n"
	for range f.rng.IntN(5) {
		content += pick(f.rng, rows) + "\r\n"
	}
	filename := "Runsheet.csv"
	switch f.rng.IntN(10) {
	case 0:
		filename, content = "Runsheet.xlsx", "PK\x03\x04"
	case 1:
		content = ""
	}
	return part{[]string{fmt.Sprintf(`Content-Disposition: form-data; name="%s"; filename="%s"`, name, filename)}, []byte(content)}
}

// readPart reads a changed part of an abstract and compares it with the response to the change.
func (f *fuzzer) readPart(r *request, got *reply) {
	target, _, _ := strings.Cut(r.target, "?")
	if route, _ := f.route(http.MethodGet, target); route == nil {
		return // the sequence is read with the runsheet
	}
	now, err := f.send(&request{op: r.op, as: "read", method: http.MethodGet, target: target})
	if err != nil || now.status != http.StatusOK || !bytes.Equal(now.body, got.body) || now.header.Get("ETag") != got.header.Get("ETag") {
		f.Errorf("part after a change differs from the response to the change: %v\n%+v\n%s", err, now, f.describe(r, got))
	}
}

// checkNotes checks that each live record has exactly the notes that responses contained.
func (f *fuzzer) checkNotes() {
	for _, recordKind := range []string{"abstract", "order", "file"} {
		for _, t := range f.state.records[recordKind] {
			if t.gone {
				continue
			}
			want := map[string]bool{}
			for _, note := range f.state.records["note"] {
				if note.of == t && !note.gone {
					want[note.id] = true
				}
			}
			got := map[string]bool{}
			for _, id := range f.listNotes(t) {
				got[id] = true
			}
			if !maps.Equal(got, want) {
				f.Errorf("at the end notes of %s %s: got %v, want %v", t.recordKind, t.id, slices.Sorted(maps.Keys(got)),
					slices.Sorted(maps.Keys(want)))
			}
		}
	}
}

// listNotes returns the IDs of the notes about a record.
func (f *fuzzer) listNotes(t *vaultRecord) (ids []string) {
	got, err := f.send(&request{as: "full", method: http.MethodGet, target: recordPaths[t.recordKind] + "/" + t.id + "/notes"})
	var list struct{ Data []struct{ ID int64 } }
	if err == nil {
		err = json.Unmarshal(got.body, &list)
	}
	if err != nil || got.status != http.StatusOK {
		f.Errorf("list notes of %s %s at the end: %+v, %v", t.recordKind, t.id, got, err)
	}
	for _, note := range list.Data {
		ids = append(ids, fmt.Sprint(note.ID))
	}
	return ids
}

// tag returns the last ETag of what a request is about, or "".
func (s *state) tag(r *request) string {
	if r.record == nil {
		return ""
	}
	_, rest := s.pathAfter(strings.TrimPrefix(r.op.path, "/v1"), nil)
	return r.record.tags[tagOf(rest)]
}
