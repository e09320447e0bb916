package contract

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
)

// corrupt inserts one error into a request.
func (f *fuzzer) corrupt(r *request) {
	kinds := []func(*request) string{f.corruptMethod, f.corruptHeader, f.corruptQuery}
	if r.record != nil {
		kinds = append(kinds, f.corruptPath, f.corruptPath)
	}
	if strings.HasPrefix(r.target, "/dl/") {
		kinds = append(kinds, f.corruptLink)
	}
	switch {
	case r.form != nil:
		kinds = append(kinds, f.corruptForm, f.corruptForm, f.corruptForm, f.corruptForm, f.corruptMedia)
	case r.tree != nil:
		kinds = append(kinds, f.corruptTree, f.corruptTree, f.corruptTree, f.corruptText, f.corruptMedia)
	case r.op.id == "writeUpload":
		kinds = append(kinds, f.corruptMedia, f.corruptUpload, f.corruptUpload)
	case len(r.body) > 0:
		kinds = append(kinds, f.corruptPairs, f.corruptPairs, f.corruptMedia)
	default:
		kinds = append(kinds, f.corruptEmpty)
	}
	r.mistakes = append(r.mistakes, pick(f.rng, kinds)(r))
}

func (f *fuzzer) corruptMethod(r *request) string {
	r.method = pick(f.rng, []string{
		http.MethodHead, http.MethodOptions, http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodPost, http.MethodGet,
		http.MethodTrace, "PROPFIND", "get", "M-SEARCH",
	})
	return "method " + r.method
}

func (f *fuzzer) corruptHeader(r *request) string {
	bad := pick(f.rng, [][2]string{
		{"Idempotency-Key", ""}, {"Idempotency-Key", strings.Repeat("k", 256)}, {"Idempotency-Key", "two words"},
		{"Idempotency-Key", "é"}, {"Idempotency-Key", "one"},
		{"If-Match", `"AAAAAAAAAAAAAAAAAAAAAA"`}, {"If-Match", "*"}, {"If-Match", "nonsense"}, {"If-Match", ""},
		{"If-Match", `W/"AAAAAAAAAAAAAAAAAAAAAA"`}, {"If-Match", `"a", "b", *`},
		{"If-None-Match", "*"}, {"Range", "bytes=0-1"}, {"Range", "bytes=99999999-"}, {"Range", "pages=1"},
		{"Accept", "application/xml"}, {"Accept-Encoding", "gzip;q=x, *"},
		{"X-Request-Id", "mine-1"}, {"X-Request-Id", strings.Repeat("i", 200)}, {"X-Http-Method-Override", "PUT"},
		{"X-Forwarded-For", "127.0.0.1"}, {"X-Forwarded-Host", "evil.example"},
		{"Origin", "https://evil.example"}, {"Cookie", "session=x"}, {"Host", "evil.example"}, {"Host", "a,b"}, {"Host", "[::1"},
		{"Content-Encoding", "gzip"}, {"Expect", "100-continue"},
		{"Authorization", "Bearer"}, {"Authorization", "Basic eDp5"}, {"X-Api-Key", "x"}, {"Connection", "close"},
		{"Content-Type", "text/plain"}, {"Upgrade", "websocket"},
	})
	if bad[0] == "If-Match" && len(f.state.tags) > 0 && f.percent(40) {
		bad[1] = pick(f.rng, f.state.tags) // of another record, or another version
	}
	r.header = append(r.header, bad)
	return bad[0] + " " + quoted(bad[1])
}

func (f *fuzzer) corruptQuery(r *request) string {
	bad := pick(f.rng, []string{
		"per_page=0", "per_page=101", "per_page=x", "per_page=1.0", "per_page=", "per_page=25&per_page=25", "cursor=x", "cursor=",
		"cursor=" + strings.Repeat("A", 4000),
		"sort=nothing", "sort=", "status=" + strings.Repeat("s", 2001), "status=%00", "status=%ff", "template_id=0", "template_id=x",
		"created_from=yesterday", "created_from=2026-02-30",
		"created_to=9999-12-31", "surprise=1", "=", "&&&", "%", "%zz=1", "a;b", "kind=nothing",
		"order_number=" + strings.Repeat("n", 256), "folder_id=none", "folder_id=-1", "actor=key:x", "record=:",
		"status[]=a", "status=a&status=b", "q=deed", "page=2", "county=%E5%AE%B6",
	})
	if strings.HasPrefix(bad, "cursor=x") && len(f.state.cursors) > 0 {
		// A cursor of another list, or a modified one.
		if _, query, found := strings.Cut(pick(f.rng, f.state.cursors), "cursor="); found {
			cursor, _, _ := strings.Cut(query, "&")
			if f.percent(50) {
				at := f.rng.IntN(len(cursor))
				cursor = cursor[:at] + "A" + cursor[at+1:]
			}
			bad = "cursor=" + cursor
		}
	}
	separator := "?"
	if strings.Contains(r.target, "?") {
		separator = "&"
	}
	r.target += separator + bad
	return fmt.Sprintf("query %.60s", bad)
}

// corruptPath changes the record in the path: to one of another type, another spelling, or a missing one.
func (f *fuzzer) corruptPath(r *request) string {
	path, query, _ := strings.Cut(r.target, "?")
	id := r.record.id
	bad := pick(f.rng, []string{
		"0", "00", "-1", "1.0", "9223372036854775808", "99999999", id + "0", "0" + id, id + "%20", "%" + "00", "%2e%2e", "..", ".",
		"a%2fb", "a%5cb", "%ff", "%E5%AE%B6", strings.ToUpper(id) + "a",
		strings.Repeat("9", 300), "'", "{id}", "null", "*", id + "/", id + "//", id + ".json", id + ";v=1",
	})
	if f.percent(30) {
		recordKind := pick(f.rng, []string{"abstract", "order", "file", "folder", "template"})
		if other := f.state.pickRecord(f.rng, recordKind, f.percent(30)); other != nil {
			bad = other.id
		}
	}
	r.record = nil
	at := strings.LastIndex(path, "/"+id)
	r.target = path[:at+1] + bad + path[at+1+len(id):]
	if f.percent(10) {
		r.target = pick(f.rng, []string{"/api", "/", "//v1/.."}) + r.target
	}
	if query != "" {
		r.target += "?" + query
	}
	return fmt.Sprintf("path %.60s", bad)
}

func (f *fuzzer) corruptLink(r *request) string {
	at := 1 + f.rng.IntN(len(r.target)-1)
	change := pick(f.rng, []string{"x", "", "/", "%2f", "0", "."})
	r.target = r.target[:at] + change + r.target[at+1:]
	return fmt.Sprintf("link at %d: %q", at, change)
}

func (f *fuzzer) corruptMedia(r *request) string {
	r.media = pick(f.rng, []string{
		"", "text/plain", "application/json; charset=utf-16", "application/json; charset=utf-8", "application/xml",
		"application/json, text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded",
		"application/json", "json", "application/octet-stream", "APPLICATION/JSON", "application/merge-patch+json", ";",
		strings.Repeat("a", 500) + "/b",
	})
	return fmt.Sprintf("media %.40q", r.media)
}

func (f *fuzzer) corruptEmpty(r *request) string {
	r.body = []byte(pick(f.rng, []string{"{}", "x", "[]", strings.Repeat(" ", 100), `{"id":1}`, strings.Repeat("b", maxJSON+1)}))
	r.media = pick(f.rng, []string{"", "application/json", "text/plain"})
	r.chunked = f.percent(50)
	return "an unexpected body"
}

// corruptUpload breaks a header or a body of the tus protocol.
func (f *fuzzer) corruptUpload(r *request) string {
	bad := pick(f.rng, [][2]string{
		{"Upload-Offset", "1"}, {"Upload-Offset", "-1"}, {"Upload-Offset", "9223372036854775808"}, {"Upload-Offset", ""},
		{"Tus-Resumable", "2.0.0"}, {"Tus-Resumable", ""},
	})
	for i := range r.header {
		if r.header[i][0] == bad[0] {
			r.header[i][1] = bad[1]
		}
	}
	return bad[0] + " " + quoted(bad[1])
}

func (f *fuzzer) corruptPairs(r *request) string {
	bad := pick(f.rng, []string{"&county=A&county=B", "&custom_fields=%7B", "&template_id=x", "&template_id=999", "&%zz",
		"&surprise=1", "&county=%ff", "&county=" + strings.Repeat("c", 2001), "&custom_fields[a]=b", ";", "&files=x", "&=", "&county=%00"})
	if f.percent(10) {
		bad = "&county=" + strings.Repeat("c", maxJSON)
	}
	r.body = append(r.body, bad...)
	return fmt.Sprintf("pairs %.40s", bad)
}

// corruptText breaks the syntax of JSON.
func (f *fuzzer) corruptText(r *request) string {
	body := r.body
	bad := f.rng.IntN(13)
	switch bad {
	case 0:
		body = body[:f.rng.IntN(len(body))]
	case 1:
		body = append(body, " {}"...)
	case 2:
		body = append([]byte("\ufeff"), body...)
	case 3:
		body = []byte(pick(f.rng, []string{"[]", "null", "7", `"x"`, "true", ""}))
	case 4:
		body = bytes.Replace(body, []byte("{"), []byte(`{"order_number":"A","order_number":"B",`), 1)
	case 5:
		body = []byte(strings.Repeat(`{"custom_fields":`, 5000))
	case 6:
		body = bytes.Replace(body, []byte("{"), []byte(`{"city":"\ud800",`), 1)
	case 7:
		body = bytes.Replace(body, []byte("{"), []byte("{\"city\":\"\xff\","), 1)
	case 8:
		body = bytes.Replace(body, []byte("{"), []byte(`{"city":"`+strings.Repeat("l", maxJSON)+`",`), 1)
	case 9:
		body = bytes.Replace(body, []byte("{"), []byte(`{"city":1e400,"__proto__":{},"":1,`), 1)
	case 10:
		body = bytes.ReplaceAll(body, []byte(`"`), []byte(`'`))
	case 11:
		body = append(bytes.Repeat([]byte(" "), maxJSON-len(body)%maxJSON), body...)
	default:
		body = bytes.Replace(body, []byte("{"), []byte(`{"city":"a\u0000b",`), 1)
	}
	r.body, r.chunked = body, f.percent(30)
	return fmt.Sprintf("text %d", bad)
}

// corruptTree inserts a wrong value into JSON.
func (f *fuzzer) corruptTree(r *request) string {
	members, ok := r.tree.(map[string]any)
	if !ok {
		return f.corruptText(r)
	}
	var names []string
	for name := range sorted(r.op.body.Content["application/json"].Schema.Value.Properties) {
		names = append(names, name)
	}
	name := pick(f.rng, append(names, "surprise", "id", "version"))
	if f.percent(10) {
		delete(members, name)
		r.body = encode(members)
		return "without " + name
	}
	deep := any("bottom")
	for range 200 {
		deep = []any{deep}
	}
	value := pick(f.rng, []any{
		nil, "", " ", 0, -1, 1.5, 1 << 53, true, false, []any{}, []any{nil}, []any{1, "a"}, map[string]any{},
		map[string]any{"a": map[string]any{"b": 1}}, deep, "x",
		strings.Repeat("b", 255), strings.Repeat("b", 256), strings.Repeat("é", 2000), strings.Repeat("é", 2001), "a\u0000b",
		"\u202egnol", "2026-02-30", "2026-13-01", "0000-00-00", "9999-12-31", "tomorrow", "1", "01",
		map[string]any{"": 1}, map[string]any{"surprise": "x"}, strings.Repeat("k", 20000),
	})
	if name == "custom_fields" && len(f.state.fields) > 0 && f.percent(70) {
		value = map[string]any{pick(f.rng, f.state.fields).key: value}
	}
	members[name] = value
	r.body = encode(members)
	return fmt.Sprintf("%s: %.40q", name, fmt.Sprint(value))
}
