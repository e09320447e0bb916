package contract

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// state contains the records and values that responses contained.
type state struct {
	records map[string][]*vaultRecord // by kind, in the sequence of their creation
	byID    map[string]*vaultRecord   // by kind and ID
	links   []string                  // paths of download links
	cursors []string                  // request targets of next and previous pages
	tags    []string                  // ETags
	fields  []field                   // of templates and orders
	words   map[string][]string       // values that lists and drafts take, by name
	sent    map[string]bool           // digests of the sent documents
	keys    int                       // number of idempotency keys
	again   *request                  // a request with an idempotency key, to be repeated
}

// vaultRecord is a record.
type vaultRecord struct {
	recordKind, id string
	gone           bool              // in the trash or deleted
	with           *vaultRecord      // the abstract that was deleted together with it
	of             *vaultRecord      // the abstract of a file or instrument, or the record of a note
	tags           map[string]string // its last ETags and those of its parts, see tagOf
	digest         string            // of a file
	certificates   int               // of an abstract: the ID of the newest

	document []byte // of an upload: the complete content
	offset   int    // the number of bytes that the server has received
}

// field is a custom field of a template or of orders.
type field struct {
	key, kind string
	options   []string
}

func newState() *state {
	return &state{records: map[string][]*vaultRecord{}, byID: map[string]*vaultRecord{}, sent: map[string]bool{}, words: map[string][]string{
		"status": {"active", "Open", "Complete"}, "kind": {"abstract", "order.created", "file.filed"},
		"actor": {"key", "key:1", "operator"}, "record": {"file:1"},
		"county": {"Essex", "Wexcombe"}, "state": {"MA", "NY"}, "created_from": {"2026-05-01", "2026-05-29T04:00:00Z"},
		"created_to": {"2026-05-29", "2027-01-01T00:00:00+02:00"},
		"q": {"Elm", "deed", "Esex", "T-2026", "Legal description", `"land beginning"`, "12-3-045", "sal", "a", "-", `"`,
			"Bk 1022 Pg 311"},
		"due_date": {"2026-06-15", "2028-02-29"}, "order_number": {"T-1", "T-2026-0417"},
	}}
}

// pickRecord returns a random record of a kind, existing or deleted, or nil if none exists.
func (s *state) pickRecord(rng *rand.Rand, recordKind string, gone bool) *vaultRecord {
	candidates := slices.DeleteFunc(slices.Clone(s.records[recordKind]), func(t *vaultRecord) bool { return t.hidden() != gone })
	if len(candidates) == 0 {
		return nil
	}
	// Recent records are more likely, because they have a recent history.
	if n := len(candidates); n > 8 && rng.IntN(2) == 0 {
		candidates = candidates[n-8:]
	}
	return pick(rng, candidates)
}

// hidden reports whether the server returns 404 for the record. A note is hidden while its record is in the trash.
func (v *vaultRecord) hidden() bool {
	return v.gone || v.recordKind == "note" && v.of != nil && v.of.gone
}

func (s *state) vaultRecord(recordKind, id string) *vaultRecord {
	t := s.byID[recordKind+" "+id]
	if t == nil {
		t = &vaultRecord{recordKind: recordKind, id: id, tags: map[string]string{}}
		s.byID[recordKind+" "+id] = t
		s.records[recordKind] = append(s.records[recordKind], t)
	}
	return t
}

// learn adds the records and values of a successful response.
func (f *fuzzer) learn(r *request, got *reply) {
	if got.status >= http.StatusBadRequest || r.method == http.MethodOptions {
		return
	}
	w := f.state
	if tag := got.header.Get("ETag"); tag != "" && len(w.tags) < 200 {
		w.tags = append(w.tags, tag)
	}
	if where, err := url.Parse(got.header.Get("Location")); err == nil && where.Path != "" {
		w.links = append(w.links, where.EscapedPath())
	}
	route, params := f.route(r.method, r.target)
	if route == nil || route.Path == "/openapi.json" {
		return
	}
	f.readOffset(r, got)
	above, rest := f.state.pathAfter(route.Path, params)
	named := f.state.named(route.Path, params)
	if named != nil && !r.replayed(got) {
		f.moved(named, route.Method == http.MethodDelete, strings.HasSuffix(route.Path, "/restore"))
		if r.op.id == "changeFile" && r.method == http.MethodPatch {
			f.documentMoved(r, named)
		}
	}
	if strings.HasSuffix(route.Path, "/bulk") && !r.replayed(got) {
		f.movedMany(r, got, "/v1"+strings.TrimSuffix(route.Path, "/bulk"))
	}
	// A replay contains the records as they were at the first response.
	isJSON := strings.HasPrefix(got.header.Get("Content-Type"), "application/json")
	if isJSON && !r.replayed(got) && route.Path != "/trash" && route.Path != "/events" {
		var body any
		if err := json.Unmarshal(got.body, &body); err == nil {
			f.walk(body, above)
		}
	}
	if tag := got.header.Get("ETag"); above != nil && tag != "" && above.recordKind != "file" {
		above.tags[tagOf(rest)] = tag
	}
	if r.idempotencyKey != "" && r.firstReply == nil && len(r.mistakes) == 0 && !r.replayed(got) {
		r.firstReply = got
		w.again = r
	}
}

// readOffset records the offset of an upload.
func (f *fuzzer) readOffset(r *request, got *reply) {
	t := r.record
	if where, err := url.Parse(got.header.Get("Location")); err == nil && r.document != nil &&
		strings.HasPrefix(where.Path, recordPaths["upload"]) {
		t = f.state.vaultRecord("upload", strings.TrimPrefix(where.Path, recordPaths["upload"]+"/"))
		t.document, t.of = r.document, f.uploadTarget(r)
	}
	if n, err := strconv.Atoi(got.header.Get("Upload-Offset")); err == nil && t != nil && t.recordKind == "upload" {
		t.offset = n
	}
}

// uploadTarget returns the abstract to which a request adds the document of a new upload, or nil.
func (f *fuzzer) uploadTarget(r *request) *vaultRecord {
	for _, header := range r.header {
		if _, coded, found := strings.Cut(header[1], "abstract_id "); found && header[0] == "Upload-Metadata" {
			id, _ := base64.StdEncoding.DecodeString(coded) // metadata encoded it
			return f.state.byID["abstract "+string(id)]
		}
	}
	return nil
}

// named returns the record at the end of a path, or nil if it is unknown.
func (s *state) named(path string, params map[string]string) *vaultRecord {
	if n, ok := params["n"]; ok && strings.HasPrefix(path, "/abstracts/") {
		return s.byID["file "+n]
	}
	if t, rest := s.pathAfter(path, params); rest == "" || rest == "/restore" {
		return t
	}
	return nil
}

// moved records that a record was moved to the trash or restored.
func (f *fuzzer) moved(t *vaultRecord, trashed, restored bool) {
	switch {
	case trashed:
		t.gone = true
		for _, inner := range slices.Concat(f.state.records["file"], f.state.records["instrument"]) {
			if inner.of == t && !inner.gone {
				inner.gone, inner.with = true, t
			}
		}
	case restored:
		t.gone, t.with = false, nil
		for _, inner := range slices.Concat(f.state.records["file"], f.state.records["instrument"]) {
			if inner.with == t {
				inner.gone, inner.with = false, nil
			}
		}
	}
}

// movedMany records what a bulk change of the records with a path did.
func (f *fuzzer) movedMany(r *request, got *reply, path string) {
	var sent struct {
		Action string
		Set    json.RawMessage
	}
	var done struct {
		Data []struct {
			ID any
			OK bool
		}
	}
	if json.Unmarshal(r.body, &sent) != nil || json.Unmarshal(got.body, &done) != nil {
		return // the request was rejected
	}
	for recordKind, known := range recordPaths {
		for _, one := range done.Data {
			t := f.state.byID[recordKind+" "+fmt.Sprint(one.ID)]
			if known != path || !one.OK || t == nil {
				continue
			}
			if f.moved(t, sent.Action == "trash", sent.Action == "restore"); recordKind == "file" {
				f.documentMoved(&request{body: sent.Set}, t)
			}
		}
	}
}

// walk finds records in a body by their members.
func (f *fuzzer) walk(v any, of *vaultRecord) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			f.walk(item, of)
		}
	case map[string]any:
		f.links(v)
		f.certificate(v, of)
		if t := f.record(v, of); t != nil && t.recordKind == "abstract" {
			of = t
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			f.walk(v[key], of)
		}
	}
}

func (f *fuzzer) links(v map[string]any) {
	for _, name := range []string{"next", "prev"} {
		if text, ok := v[name].(string); ok && len(f.state.cursors) < 300 {
			if where, err := url.Parse(text); err == nil {
				f.state.cursors = append(f.state.cursors, where.RequestURI())
			}
		}
	}
}

// record determines the kind of a record by its members.
func (f *fuzzer) record(v map[string]any, of *vaultRecord) *vaultRecord {
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { _, ok := v[name]; return !ok })
	}
	var t *vaultRecord
	switch {
	case has("id", "download_url"):
		isNew := f.state.byID["file "+fmt.Sprint(v["id"])] == nil
		t = f.state.vaultRecord("file", fmt.Sprint(v["id"]))
		switch {
		case of != nil && of.recordKind == "abstract":
			t.of = of
		case of != nil && of.recordKind == "upload" && isNew:
			t.of = of.of
		}
		f.digest(t)
	case has("id", "tax_map", "files"):
		t = f.state.vaultRecord("abstract", fmt.Sprint(v["id"]))
	case has("id", "order_number"):
		t = f.state.vaultRecord("order", fmt.Sprint(v["id"]))
	case has("id", "parent_id"):
		t = f.state.vaultRecord("folder", fmt.Sprint(v["id"]))
	case has("id", "default", "custom_fields"):
		t = f.state.vaultRecord("template", fmt.Sprint(v["id"]))
	case has("id", "abstract_id", "grantors"):
		t = f.state.vaultRecord("instrument", fmt.Sprint(v["id"]))
		t.of = f.state.vaultRecord("abstract", fmt.Sprint(v["abstract_id"]))
	case has("id", "text", "page", "by"):
		if t = f.state.vaultRecord("note", fmt.Sprint(v["id"])); of != nil && of != t {
			t.of = of
		}
	case has("id", "record", "filters"):
		t = f.state.vaultRecord("view", fmt.Sprint(v["id"]))
	case has("id", "category", "encumbrance"):
		if name := fmt.Sprint(v["name"]); !slices.Contains(f.state.words["type"], name) {
			f.state.words["type"] = append(f.state.words["type"], name)
		}
	case has("key", "type", "options"):
		f.field(v)
	}
	return t
}

func (f *fuzzer) digest(t *vaultRecord) {
	var n uint64
	if _, err := fmt.Sscan(t.id, &n); err != nil || t.digest != "" || t.gone {
		return
	}
	file, err := f.vault.Files.Get(f.Context(), n)
	if err != nil {
		return // it was deleted since; this is a replayed response
	}
	if t.digest = file.Digest; len(file.Origin) > 0 {
		f.state.sent[t.digest] = true // the server created it from pages of others
	}
	if !f.state.sent[t.digest] {
		f.Errorf("digest of file %s = %s, want that of a sent document", t.id, t.digest)
	}
}

func (f *fuzzer) field(v map[string]any) {
	custom := field{key: fmt.Sprint(v["key"]), kind: fmt.Sprint(v["type"])}
	options, _ := v["options"].([]any)
	for _, o := range options {
		custom.options = append(custom.options, fmt.Sprint(o))
	}
	if !slices.ContainsFunc(f.state.fields, func(known field) bool { return known.key == custom.key && known.kind == custom.kind }) {
		f.state.fields = append(f.state.fields, custom)
	}
}

// checkEnd checks the final state: each record exists or is deleted as responses said, the blobs on disk are exactly the
// content of the documents, and the server still responds.
func (f *fuzzer) checkEnd() {
	byKind := map[string]*operation{}
	for _, o := range f.api.operations {
		if o.method == http.MethodGet && !strings.Contains(o.path[len("/v1"):], "/download") {
			for recordKind, path := range recordPaths {
				if strings.HasPrefix(o.path, path+"/{") && strings.HasSuffix(o.path, "}") {
					byKind[recordKind] = o
				}
			}
		}
	}
	for _, t := range f.state.records["upload"] {
		f.outcome(t, byKind["upload"])
	}
	delete(byKind, "upload")
	f.checkNotes()
	for recordKind, o := range byKind {
		for _, t := range f.state.records[recordKind] {
			want := http.StatusOK
			if t.gone {
				want = http.StatusNotFound
			}
			r := &request{op: o, as: "full", method: http.MethodGet, target: recordPaths[recordKind] + "/" + t.id}
			if got, err := f.send(r); err != nil || got.status != want {
				f.Errorf("at the end %s %s: got %+v, %v; want status %d", recordKind, t.id, got, err, want)
			}
		}
	}
	// A sweep removes the content of rejected requests.
	if err := f.vault.Sweeper.Sweep(f.Context()); err != nil {
		f.Errorf("sweep after the last request: %v", err)
	}
	f.checkDisk(f.T)
}

// outcome reads the result of an upload and cancels an incomplete one.
func (f *fuzzer) outcome(t *vaultRecord, o *operation) {
	r := &request{op: o, as: "full", method: http.MethodGet, target: recordPaths["upload"] + "/" + t.id}
	got, err := f.send(r)
	if err != nil || t.gone && t.offset < len(t.document) != (got.status == http.StatusNotFound) {
		f.Errorf("at the end upload %s, canceled: %v, %d of %d bytes: got %+v, %v", t.id, t.gone, t.offset, len(t.document), got, err)
		return
	}
	f.learn(r, got)
	r.method, r.header = http.MethodDelete, [][2]string{{"Tus-Resumable", "1.0.0"}}
	if got, err := f.send(r); err != nil || got.status >= http.StatusInternalServerError {
		f.Errorf("cancel upload %s at the end: got %+v, %v; want no 5xx", t.id, got, err)
	}
}

// checkDisk compares the blobs on disk with the content of the documents.
func (f *fuzzer) checkDisk(t *testing.T) {
	t.Helper()
	blobs, leftovers := f.onDisk(t)
	referenced := map[string]bool{}
	for _, file := range f.state.records["file"] {
		referenced[file.digest] = true
		if !blobs[file.digest] {
			t.Errorf("blob %s of file %s is missing", file.digest, file.id)
		}
	}
	for digest := range blobs {
		if !referenced[digest] {
			t.Errorf("blob %s belongs to no file", digest)
		}
	}
	if leftovers > 0 {
		t.Errorf("temporary files left = %d, want 0", leftovers)
	}
}

// recordPaths maps kinds of records to their paths.
var recordPaths = map[string]string{
	"abstract": "/v1/abstracts", "order": "/v1/orders", "file": "/v1/file-vault/files", "folder": "/v1/file-vault/folders",
	"template": "/v1/abstract-templates", "upload": "/v1/uploads", "instrument": "/v1/instruments", "note": "/v1/notes",
	"view": "/v1/views",
}
