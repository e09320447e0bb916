package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// request is an HTTP request.
type request struct {
	op             *operation
	as             string
	method         string
	target         string // path and query, as sent
	header         [][2]string
	media          string // media type of the body; "": none
	body           []byte
	chunked        bool
	form           *form        // source of body; nil: not a form
	tree           any          // source of a JSON body
	mistakes       []string     // the inserted errors
	record         *vaultRecord // the record in the path, if any
	idempotencyKey string       // its Idempotency-Key, if valid
	firstReply     *reply       // the first response
	document       []byte       // the document of a new upload
}

// make returns a valid request of an operation, according to the known records.
func (f *fuzzer) make(o *operation, as string) *request {
	r := &request{op: o, as: as, method: o.method}
	r.target = f.path(r)
	f.about = aboutAbstract(r.record)
	f.query(r)
	f.headers(r)
	f.body(r)
	return r
}

// path fills in the parameters of a path.
func (f *fuzzer) path(r *request) string {
	o := r.op
	if strings.HasPrefix(o.path, "/dl/") {
		if len(f.state.links) > 0 {
			return pick(f.rng, f.state.links)
		}
		return "/dl/1/1780027500/44QM4OJD9wH7oVXlTBSQh08fj_D4fR3V-6FziDq6AD8/Deed.pdf"
	}
	path := o.path
	var above *vaultRecord
	for _, p := range o.params {
		if p.Value.In != openapi3.ParameterInPath {
			continue
		}
		if o.id == "voidCertificate" && above != nil {
			path, r.record = strings.Replace(path, "{n}", fmt.Sprint(max(1, above.certificates)), 1), nil
			continue
		}
		t := f.named(o, path[:strings.Index(path, "{"+p.Value.Name+"}")], above)
		id := "1"
		if t != nil {
			id, above = t.id, t
		} else if p.Value.Example != nil {
			id = fmt.Sprint(p.Value.Example)
		}
		r.record = t
		path = strings.Replace(path, "{"+p.Value.Name+"}", id, 1)
	}
	return path
}

// named selects the record at the end of a path.
func (f *fuzzer) named(o *operation, before string, above *vaultRecord) *vaultRecord {
	recordKind := ""
	for n, path := range recordPaths {
		if before == path+"/" {
			recordKind = n
		}
	}
	if above != nil {
		recordKind = "file"
		var own []*vaultRecord
		for _, t := range f.state.records["file"] {
			if t.of == above && !t.gone {
				own = append(own, t)
			}
		}
		if len(own) > 0 && f.percent(85) {
			return pick(f.rng, own)
		}
	}
	if o.id == "detachFile" && above == nil && f.percent(85) {
		// An abstract that has a file.
		for _, t := range f.state.records["file"] {
			if t.of != nil && !t.gone && !t.of.gone {
				return t.of
			}
		}
	}
	if o.id == "voidCertificate" && f.percent(85) {
		for _, t := range f.state.records["abstract"] {
			if t.certificates > 0 && !t.gone {
				return t
			}
		}
	}
	gone := f.percent(12)
	if strings.HasSuffix(o.path, "/restore") {
		gone = f.percent(60)
	}
	t := f.state.pickRecord(f.rng, recordKind, gone)
	if t == nil {
		t = f.state.pickRecord(f.rng, recordKind, !gone)
	}
	return t
}

// query adds some of the parameters, or a cursor.
func (f *fuzzer) query(r *request) {
	if strings.HasPrefix(r.op.path, "/dl/") {
		return
	}
	if own := f.pages(r.op); len(own) > 0 && f.percent(25) {
		r.target = pick(f.rng, own)
		return
	}
	var pairs []string
	for _, p := range r.op.params {
		if p.Value.In != openapi3.ParameterInQuery || p.Value.Name == "cursor" || !p.Value.Required && !f.percent(25) {
			continue
		}
		pairs = append(pairs, url.QueryEscape(p.Value.Name)+"="+url.QueryEscape(plain(f.value(p.Value.Name, p.Value.Schema))))
	}
	if len(pairs) > 0 {
		r.target += "?" + strings.Join(pairs, "&")
	}
}

func (f *fuzzer) pages(o *operation) []string {
	var own []string
	for _, c := range f.state.cursors {
		if path, _, _ := strings.Cut(c, "?"); path == o.path {
			own = append(own, c)
		}
	}
	return own
}

// plain formats a value for a query or a form.
func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case map[string]any, []any:
		raw, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		return string(raw)
	}
	return fmt.Sprint(v)
}

func (f *fuzzer) headers(r *request) {
	for _, p := range r.op.params {
		if p.Value.In != openapi3.ParameterInHeader || !p.Value.Required && !f.percent(30) {
			continue
		}
		var value string
		switch p.Value.Name {
		case "Idempotency-Key":
			f.state.keys++
			value = fmt.Sprintf("key-%d", f.state.keys)
			r.idempotencyKey = value
		case "If-Match":
			value = "*"
			if tag := f.state.tag(r); tag != "" && f.percent(70) {
				value = tag
			}
		case "If-None-Match":
			value = `"0"`
			if len(f.state.tags) > 0 {
				value = pick(f.rng, f.state.tags)
			}
		case "Upload-Length":
			value = f.uploadContent(r)
		case "Upload-Metadata":
			value = f.metadata()
		case "Upload-Offset":
			value = "0"
			if r.record != nil {
				value = fmt.Sprint(r.record.offset)
			}
		case "Range":
			value = pick(f.rng, []string{"bytes=0-3", "bytes=5-", "bytes=-2", "bytes=0-0,2-3"})
		default:
			value = plain(f.value(p.Value.Name, p.Value.Schema))
		}
		r.header = append(r.header, [2]string{p.Value.Name, value})
	}
	if f.percent(10) {
		r.header = append(r.header, [2]string{"Accept-Encoding", "gzip"})
	}
	if r.op.path == "/metrics" && r.as == "none" && f.percent(50) {
		r.header = append(r.header, [2]string{"Host", "localhost"})
	}
	if f.percent(5) && r.method == http.MethodGet {
		r.method = http.MethodHead
	}
}

// body adds a body of one of the media types.
func (f *fuzzer) body(r *request) {
	if r.op.body == nil || !r.op.body.Required && f.percent(15) {
		return
	}
	if r.op.id == "writeUpload" {
		r.media = "application/offset+octet-stream"
		if r.record != nil {
			rest := r.record.document[min(r.record.offset, len(r.record.document)):]
			r.body = rest[:len(rest)-pick(f.rng, []int{0, 0, len(rest) / 2})]
		}
		return
	}
	var medias []string
	for media := range sorted(r.op.body.Content) {
		medias = append(medias, media)
	}
	r.media = pick(f.rng, medias)
	of := r.op.body.Content[r.media]
	tree, isExample := f.example(of)
	if !isExample {
		tree = f.value("", of.Schema)
	}
	if members, ok := tree.(map[string]any); ok && r.op.id == "changeAbstract" {
		f.order(r, members)
	}
	if members, ok := tree.(map[string]any); ok && r.op.id == "sequenceInstruments" {
		members["instruments"] = f.sequence()
	}
	switch r.media {
	case "application/json":
		r.tree = tree
		r.body = encode(tree)
	case "application/x-www-form-urlencoded":
		var pairs []string
		for key, v := range sorted(tree.(map[string]any)) {
			pairs = append(pairs, url.QueryEscape(key)+"="+url.QueryEscape(plain(v)))
		}
		r.body = []byte(strings.Join(pairs, "&"))
	default:
		r.form = f.newForm(of.Schema.Value, tree.(map[string]any))
		r.media, r.body = r.form.bytes()
	}
}

// order adds a new sequence of an abstract's files.
func (f *fuzzer) order(r *request, members map[string]any) {
	delete(members, "files")
	if r.record == nil || f.percent(60) {
		return
	}
	list := []any{}
	for _, t := range f.state.records["file"] {
		if t.of == r.record && !t.gone {
			list = append(list, number(t.id))
		}
	}
	f.rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	members["files"] = list
}

// example sometimes returns an example of the description.
func (f *fuzzer) example(of *openapi3.MediaType) (any, bool) {
	if len(of.Examples) == 0 || !f.percent(25) {
		return nil, false
	}
	var names []string
	for name := range sorted(of.Examples) {
		names = append(names, name)
	}
	var tree any
	// A copy, because corrupt may change it.
	if err := json.Unmarshal(encode(of.Examples[pick(f.rng, names)].Value.Value), &tree); err != nil {
		panic(err)
	}
	_, isObject := tree.(map[string]any)
	return tree, isObject
}

func encode(tree any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(tree); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// has reports whether a header is set.
func (r *request) has(name string) bool {
	return slices.ContainsFunc(r.header, func(h [2]string) bool { return strings.EqualFold(h[0], name) })
}

// replayed reports whether the response is a replay for the idempotency key.
func (r *request) replayed(got *reply) bool { return got.header.Get("Idempotent-Replayed") == "true" }

// wire returns the request in HTTP/1.1 format.
func (r *request) wire(key string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", r.method, r.target)
	for _, h := range r.all(key) {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
	}
	b.WriteString("\r\n")
	if !r.chunked {
		b.Write(r.body)
		return b.Bytes()
	}
	for chunk := range slices.Chunk(r.body, 1000) {
		fmt.Fprintf(&b, "%x\r\n%s\r\n", len(chunk), chunk)
	}
	b.WriteString("0\r\n\r\n")
	return b.Bytes()
}

// all returns all headers, including those that every request has.
func (r *request) all(key string) [][2]string {
	var list [][2]string
	if !r.has("Host") {
		list = append(list, [2]string{"Host", "vault.test"})
	}
	if key != "" && !r.has("Authorization") {
		list = append(list, [2]string{"Authorization", "Bearer " + key})
	}
	if r.media != "" {
		list = append(list, [2]string{"Content-Type", r.media})
	}
	list = append(list, r.header...)
	switch {
	case r.chunked:
		list = append(list, [2]string{"Transfer-Encoding", "chunked"})
	case len(r.body) > 0 || r.method == http.MethodPost || r.method == http.MethodPatch:
		list = append(list, [2]string{"Content-Length", fmt.Sprint(len(r.body))})
	}
	return list
}

// curl returns the request as a command. "$KEY" stands for a key of its type.
func (r *request) curl(h *testServer) string {
	var b strings.Builder
	fmt.Fprintf(&b, "curl -sS --path-as-is -i -X %s", quoted(r.method))
	key := h.keys[r.as]
	for _, header := range r.all(key) {
		value := header[1]
		switch {
		case header[0] == "Content-Length":
			continue
		case key != "" && strings.Contains(value, key):
			fmt.Fprintf(&b, ` -H "Authorization: Bearer $KEY"`)
			continue
		}
		fmt.Fprintf(&b, " -H %s", quoted(header[0]+": "+value))
	}
	if len(r.body) > 0 {
		fmt.Fprintf(&b, " --data-binary %s", quoted(string(r.body)))
	}
	return b.String() + " " + quoted("http://127.0.0.1:8080"+r.target)
}

// quoted quotes a text for bash, with $'…' if it has special characters. It truncates a long text and says so.
func quoted(text string) string {
	cut := ""
	if len(text) > 4000 {
		text, cut = text[:4000], fmt.Sprintf("  # and %d bytes more", len(text)-4000)
	}
	var b strings.Builder
	for _, c := range []byte(text) {
		switch {
		case c == '\'' || c == '\\':
			b.WriteString("\\" + string(c))
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return "$'" + b.String() + "'" + cut
}
