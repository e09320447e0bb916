package contract

import (
	"cmp"
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

	"github.com/getkin/kin-openapi/routers"
)

// world is what the answers said there is.
type world struct {
	things  map[string][]*thing // by noun, in the order they came
	byID    map[string]*thing   // by noun and id
	links   []string            // of downloads, their paths
	cursors []string            // whole targets of next and previous pages
	tags    []string            // ETags
	fields  []field             // of templates and orders
	words   map[string][]string // values that lists and drafts take, by name
	sent    map[string]bool     // digests of documents that were sent
	keys    int                 // idempotency keys that were made
	again   *request            // a request with such a key, and what was answered
}

// thing is a record.
type thing struct {
	noun, id string
	gone     bool   // in the trash, or removed
	with     *thing // the abstract that it went to the trash with
	of       *thing // the abstract of a file
	tag      string // its last ETag
	digest   string // of a file

	document []byte // of an upload: all that is to arrive
	offset   int    // how much of it did
}

// field is one of a template or of the orders.
type field struct {
	key, kind string
	options   []string
}

func newWorld() *world {
	return &world{things: map[string][]*thing{}, byID: map[string]*thing{}, sent: map[string]bool{}, words: map[string][]string{
		"status": {"active", "Open", "Complete"}, "kind": {"abstract", "order.created", "file.filed"}, "actor": {"key", "key:1", "operator"}, "record": {"file:1"},
		"county": {"Essex", "Wexcombe"}, "state": {"MA", "NY"}, "created_from": {"2026-05-01", "2026-05-29T04:00:00Z"}, "created_to": {"2026-05-29", "2027-01-01T00:00:00+02:00"},
		"q":        {"Elm", "deed", "Esex", "T-2026", "Legal description", `"land beginning"`, "12-3-045", "sal", "a", "-", `"`, "Bk 1022 Pg 311"},
		"due_date": {"2026-06-15", "2028-02-29"}, "order_number": {"T-1", "T-2026-0417"},
	}}
}

// some gives a thing of a noun: mostly one that is there, sometimes one that has gone;
// nil where there is none.
func (w *world) some(rng *rand.Rand, noun string, gone bool) *thing {
	fits := slices.DeleteFunc(slices.Clone(w.things[noun]), func(t *thing) bool { return t.gone != gone })
	if len(fits) == 0 {
		return nil
	}
	// The latest are the likeliest: they have a history that was just made.
	if n := len(fits); n > 8 && rng.IntN(2) == 0 {
		fits = fits[n-8:]
	}
	return pick(rng, fits)
}

func (w *world) thing(noun, id string) *thing {
	t := w.byID[noun+" "+id]
	if t == nil {
		t = &thing{noun: noun, id: id}
		w.byID[noun+" "+id] = t
		w.things[noun] = append(w.things[noun], t)
	}
	return t
}

// learn takes down what a good answer says.
func (f *fuzzer) learn(r *request, got *reply) {
	if got.status >= http.StatusBadRequest || r.method == http.MethodOptions {
		return
	}
	w := f.world
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
	f.arrived(r, got)
	named := f.world.named(route.Path, params)
	if named != nil && !r.replayed(got) {
		f.moved(named, route)
	}
	if strings.HasPrefix(got.header.Get("Content-Type"), "application/json") && route.Path != "/trash" && route.Path != "/events" {
		var said any
		if err := json.Unmarshal(got.body, &said); err == nil {
			f.walk(said, nil)
		}
	}
	if tag := got.header.Get("ETag"); named != nil && tag != "" && named.noun != "file" {
		named.tag = tag
	}
	if r.once != "" && r.answered == nil && len(r.wrong) == 0 && !r.replayed(got) {
		r.answered = got
		w.again = r
	}
}

// arrived takes down how far an upload is.
func (f *fuzzer) arrived(r *request, got *reply) {
	t := r.about
	if where, err := url.Parse(got.header.Get("Location")); err == nil && r.document != nil && strings.HasPrefix(where.Path, nouns["upload"]) {
		t = f.world.thing("upload", strings.TrimPrefix(where.Path, nouns["upload"]+"/"))
		t.document = r.document
	}
	if n, err := strconv.Atoi(got.header.Get("Upload-Offset")); err == nil && t != nil && t.noun == "upload" {
		t.offset = n
	}
}

// named is the record at the end of a path; nil where there is none that is known.
func (w *world) named(path string, params map[string]string) *thing {
	if n, ok := params["n"]; ok && strings.HasPrefix(path, "/abstracts/") {
		return w.byID["file "+n]
	}
	for noun, start := range nouns {
		if strings.HasPrefix("/v1"+path, start+"/{") {
			return w.byID[noun+" "+cmp.Or(params["id"], params["n"])]
		}
	}
	return nil
}

// moved follows a record into the trash and out of it.
func (f *fuzzer) moved(t *thing, route *routers.Route) {
	switch {
	case route.Method == http.MethodDelete:
		t.gone = true
		for _, file := range f.world.things["file"] {
			if file.of == t && !file.gone {
				file.gone, file.with = true, t
			}
		}
	case strings.HasSuffix(route.Path, "/restore"):
		t.gone, t.with = false, nil
		for _, file := range f.world.things["file"] {
			if file.with == t {
				file.gone, file.with = false, nil
			}
		}
	}
}

// walk finds the records in a body by their members.
func (f *fuzzer) walk(v any, of *thing) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			f.walk(item, of)
		}
	case map[string]any:
		f.links(v)
		if t := f.record(v, of); t != nil && t.noun == "abstract" {
			of = t
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			f.walk(v[key], of)
		}
	}
}

func (f *fuzzer) links(v map[string]any) {
	for _, name := range []string{"next", "prev"} {
		if text, ok := v[name].(string); ok && len(f.world.cursors) < 300 {
			if where, err := url.Parse(text); err == nil {
				f.world.cursors = append(f.world.cursors, where.RequestURI())
			}
		}
	}
}

// record knows the nouns by the members that only they have.
func (f *fuzzer) record(v map[string]any, of *thing) *thing {
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { _, ok := v[name]; return !ok })
	}
	var t *thing
	switch {
	case has("id", "download_url"):
		t = f.world.thing("file", fmt.Sprint(v["id"]))
		if of != nil {
			t.of = of
		}
		f.digest(t)
	case has("id", "tax_map", "files"):
		t = f.world.thing("abstract", fmt.Sprint(v["id"]))
	case has("id", "order_number"):
		t = f.world.thing("order", fmt.Sprint(v["id"]))
	case has("id", "parent_id"):
		t = f.world.thing("folder", fmt.Sprint(v["id"]))
	case has("id", "default", "custom_fields"):
		t = f.world.thing("template", fmt.Sprint(v["id"]))
	case has("key", "type", "options"):
		f.field(v)
	}
	return t
}

func (f *fuzzer) digest(t *thing) {
	var n uint64
	if _, err := fmt.Sscan(t.id, &n); err != nil || t.digest != "" || t.gone {
		return
	}
	file, err := f.vault.Files.Get(f.Context(), n)
	if err != nil {
		return // it went to the trash meanwhile: an answer that is given again tells of it
	}
	if t.digest = file.Digest; !f.world.sent[t.digest] {
		f.Errorf("file %s has bytes that nobody sent", t.id)
	}
}

func (f *fuzzer) field(v map[string]any) {
	one := field{key: fmt.Sprint(v["key"]), kind: fmt.Sprint(v["type"])}
	options, _ := v["options"].([]any)
	for _, o := range options {
		one.options = append(one.options, fmt.Sprint(o))
	}
	if !slices.ContainsFunc(f.world.fields, func(known field) bool { return known.key == one.key && known.kind == one.kind }) {
		f.world.fields = append(f.world.fields, one)
	}
}

// end looks at what is left: each record is there or gone as the answers had it, every
// document's bytes lie on the disk and no others, and the server still answers.
func (f *fuzzer) end() {
	byNoun := map[string]*operation{}
	for _, o := range f.book.operations {
		if o.method == http.MethodGet && !strings.Contains(o.path[len("/v1"):], "/download") {
			for noun, path := range nouns {
				if strings.HasPrefix(o.path, path+"/{") && strings.HasSuffix(o.path, "}") {
					byNoun[noun] = o
				}
			}
		}
	}
	for _, t := range f.world.things["upload"] {
		f.outcome(t, byNoun["upload"])
	}
	delete(byNoun, "upload")
	for noun, o := range byNoun {
		for _, t := range f.world.things[noun] {
			want := http.StatusOK
			if t.gone {
				want = http.StatusNotFound
			}
			r := &request{op: o, as: "full", method: http.MethodGet, target: nouns[noun] + "/" + t.id}
			if got, err := f.send(r); err != nil || got.status != want {
				f.Errorf("at the end %s %s: want %d, got %d %s, %v", noun, t.id, want, got.status, got.body, err)
			}
		}
	}
	// What was kept of a request that was refused goes with the sweep that it calls for.
	if err := f.vault.Sweeper.Sweep(f.Context()); err != nil {
		f.Error(err)
	}
	f.disk(f.T)
}

// outcome learns what came of an upload, and cancels what has not arrived.
func (f *fuzzer) outcome(t *thing, o *operation) {
	r := &request{op: o, as: "full", method: http.MethodGet, target: nouns["upload"] + "/" + t.id}
	got, err := f.send(r)
	if err != nil || t.gone && t.offset < len(t.document) != (got.status == http.StatusNotFound) {
		f.Errorf("at the end upload %s, cancelled: %v, %d of %d bytes: got %+v, %v", t.id, t.gone, t.offset, len(t.document), got, err)
		return
	}
	f.learn(r, got)
	r.method, r.header = http.MethodDelete, [][2]string{{"Tus-Resumable", "1.0.0"}}
	if got, err := f.send(r); err != nil || got.status >= http.StatusInternalServerError {
		f.Errorf("at the end upload %s is not cancelled: %+v, %v", t.id, got, err)
	}
}

func (f *fuzzer) disk(t *testing.T) {
	t.Helper()
	lie, leftovers := f.onDisk(t)
	named := map[string]bool{}
	for _, file := range f.world.things["file"] {
		named[file.digest] = true
		if !lie[file.digest] {
			t.Errorf("the bytes of file %s are missing", file.id)
		}
	}
	for digest := range lie {
		if !named[digest] {
			t.Errorf("blob %s is no record's", digest)
		}
	}
	if leftovers > 0 {
		t.Errorf("%d files are left over of what arrived", leftovers)
	}
}

// nouns are the paths of records.
var nouns = map[string]string{
	"abstract": "/v1/abstracts", "order": "/v1/orders", "file": "/v1/file-vault/files", "folder": "/v1/file-vault/folders", "template": "/v1/abstract-templates", "upload": "/v1/uploads",
}
