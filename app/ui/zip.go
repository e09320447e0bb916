package ui

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// zipped is one document of a zip, in a folder of it or at its top.
type zipped struct {
	Folder []string // names of folders as people gave them, the uppermost first
	File   model.File
}

const fileDownloaded = "file.downloaded"

// zip sends documents in their order as one zip of that name (without .zip), read
// and sent as they come: nothing of it is kept. Each download is noted when its
// document begins. A document that cannot be read ends the answer in the middle, so
// that nobody takes a part for the whole; before the first byte it is an error.
func (p *pages) zip(w http.ResponseWriter, r *http.Request, who visitor, name string, list []zipped) error {
	if len(list) == 0 {
		return &errs.Error{Kind: errs.Conflict, Message: "There are no documents here to download."}
	}
	files := make([]model.File, 0, len(list))
	for _, entry := range list {
		files = append(files, entry.File)
	}
	if err := p.Files.KnownDamage(files...); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/zip")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": safeName(name) + ".zip"}))
	h.Set("Content-Security-Policy", elsePolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "private, no-store")
	if r.Method == http.MethodHead {
		return nil
	}
	names := zipNames(list)
	z := zip.NewWriter(&attended{to: w, again: func() error { return p.stillTakes(w, r) }})
	for i, entry := range list {
		if err := p.zipFile(w, r, z, who, names[i], entry.File); err != nil {
			return p.cutZip(w, r, err, i == 0)
		}
	}
	if err := z.Close(); err != nil {
		return p.cutZip(w, r, err, false)
	}
	return nil
}

// cutZip ends an answer that has begun so that the client sees that it is cut.
func (p *pages) cutZip(w http.ResponseWriter, r *http.Request, err error, first bool) error {
	if opening := (*openError)(nil); first && errors.As(err, &opening) {
		for _, name := range []string{"Content-Type", "Content-Disposition"} {
			w.Header().Del(name)
		}
		return opening.cause
	}
	switch {
	case r.Context().Err() != nil:
	case errors.Is(err, errSignIn), errs.KindOf(err) == errs.Forbidden:
		p.Log.InfoContext(r.Context(), "zip is cut off", "error", err, "request_id", requestID(w))
	default:
		p.Log.ErrorContext(r.Context(), "zip is cut off", "error", err, "request_id", requestID(w))
	}
	panic(http.ErrAbortHandler)
}

// stretch is after how many bytes of a zip it is asked again who takes it.
const stretch = 256 << 10

// attended passes a long answer on, one stretch after the other, while again allows it.
type attended struct {
	to    io.Writer
	again func() error
	left  int // of the stretch
}

func (a *attended) Write(b []byte) (int, error) {
	if a.left <= 0 {
		if err := a.again(); err != nil {
			return 0, err
		}
		a.left = stretch
	}
	n, err := a.to.Write(b)
	a.left -= n
	return n, err
}

// stillTakes lets a long answer go on: its session still reads, and it has the time of
// one more stretch.
func (p *pages) stillTakes(w http.ResponseWriter, r *http.Request) error {
	now, err := p.visitor(r)
	if err == nil {
		err = may(now, mayRead)
	}
	if err == nil {
		p.pace(w, stretch)
	}
	return err
}

// openError is a document that could not be opened: nothing of it was sent.
type openError struct{ cause error }

func (e *openError) Error() string { return e.cause.Error() }
func (e *openError) Unwrap() error { return e.cause }

func (p *pages) zipFile(w http.ResponseWriter, r *http.Request, z *zip.Writer, who visitor, name string, file model.File) error {
	ctx := r.Context()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := p.stillTakes(w, r); err != nil {
		return &openError{err}
	}
	file, content, err := p.Files.Open(ctx, file.ID)
	if err != nil {
		return &openError{err}
	}
	defer content.Close() //nolint:errcheck // it was only read
	p.Events.Note(who.Actor, fileDownloaded, fileRecord(file.ID), map[string]string{"as": "zip"})
	head := &zip.FileHeader{Name: name, Method: zip.Store, Modified: file.CreatedAt.In(p.Zone)}
	if file.MIME == "text/plain" || file.MIME == "image/bmp" {
		head.Method = zip.Deflate // all others are packed already
	}
	out, err := z.CreateHeader(head)
	if err != nil {
		return err
	}
	if n, err := io.Copy(out, content); err != nil || n != file.Size {
		return errors.Join(err, fmt.Errorf("%d of %d bytes of file %d", n, file.Size, file.ID))
	}
	return nil
}

// zipNames gives each document a name in the zip: one that every system can unpack,
// unlike any other and any folder of it, whatever the case. Where their names do not
// sort as the documents are ordered, a number goes before each, so that they stay in
// order when unpacked.
func zipNames(list []zipped) []string {
	width := 0
	if !slices.IsSortedFunc(list, func(a, b zipped) int {
		return strings.Compare(strings.ToLower(zipPath(a, 0, 0)), strings.ToLower(zipPath(b, 0, 0)))
	}) {
		width = max(2, len(fmt.Sprint(len(list))))
	}
	names, taken := make([]string, len(list)), map[string]bool{}
	for i, entry := range list {
		names[i] = zipPath(entry, i+1, width)
		for folder := path.Dir(strings.ToLower(names[i])); folder != "." && !taken[folder]; folder = path.Dir(folder) {
			taken[folder] = true
		}
	}
	next := map[string]int{} // by name: the number that those before have left
	for i, whole := range names {
		name, low, ext := whole, strings.ToLower(whole), path.Ext(whole)
		n := max(2, next[low])
		for ; taken[strings.ToLower(name)]; n++ {
			name = fmt.Sprintf("%s (%d)%s", strings.TrimSuffix(whole, ext), n, ext)
		}
		next[low] = n
		taken[strings.ToLower(name)] = true
		names[i] = name
	}
	return names
}

// zipPath is the path of a document in the zip, with its number where width says how
// many digits that has.
func zipPath(entry zipped, n, width int) string {
	var parts []string
	for _, folder := range entry.Folder {
		parts = append(parts, safeName(folder))
	}
	name := safeName(entry.File.Filename)
	if width > 0 && len(entry.Folder) == 0 {
		name = fmt.Sprintf("%0*d %s", width, n, name)
	}
	return path.Join(append(parts, name)...)
}

// mostName is how many bytes a name in a zip has; file systems end at 255.
const mostName = 180

// safeName makes any text a name that Windows, macOS and Linux can give a file: no
// separators, no controls and none that only turn the writing around, no device
// names, no blank or dot at its ends (Microsoft, "Naming Files, Paths, and
// Namespaces"). An extension stays.
func safeName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(`<>:"/\|?*`, r):
			return '_'
		case r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, name)
	if len(name) > mostName {
		ext := path.Ext(name)
		if len(ext) > 10 {
			ext = ""
		}
		name = strings.ToValidUTF8(name[:mostName-len(ext)], "") + ext
	}
	name = strings.TrimRight(strings.TrimLeft(name, " "), " .")
	if name == "" || strings.Trim(name, ".") == "" {
		name = "unnamed"
	}
	stem, _, _ := strings.Cut(strings.ToUpper(name), ".")
	if isDevice(strings.TrimSpace(stem)) {
		name = "_" + name
	}
	return name
}

// isDevice reports whether Windows takes a name for a device; the raised digits are
// some of its code page 1252.
func isDevice(stem string) bool {
	if slices.Contains([]string{"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"}, stem) {
		return true
	}
	port, digit := strings.CutPrefix(stem, "COM")
	if !digit {
		port, digit = strings.CutPrefix(stem, "LPT")
	}
	number, size := utf8.DecodeRuneInString(port)
	return digit && size > 0 && size == len(port) && strings.ContainsRune("0123456789¹²³", number)
}
