package client

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/textproto"
	"net/url"
	"strings"
	"unicode/utf8"
)

// Upload is a document to send. Reader is read once and not closed.
type Upload struct {
	Filename string
	Reader   io.Reader
}

// form is a multipart body. It consists of the text between the files and of the files themselves, so that sending it
// needs neither a copy nor a goroutine.
type form struct {
	parts []io.Reader
	text  bytes.Buffer
	w     *multipart.Writer
}

func newForm() *form {
	f := &form{}
	f.w = multipart.NewWriter(&f.text)
	return f
}

// field adds a part for a field unless value is empty.
func (f *form) field(name, value string) error {
	if value == "" {
		return nil
	}
	return f.w.WriteField(name, value)
}

// files adds a part for each upload. All parts have the same name.
func (f *form) files(name string, uploads []Upload) error {
	for _, u := range uploads {
		head := textproto.MIMEHeader{
			"Content-Disposition": {disposition(name, u.Filename)},
			"Content-Type":        {"application/octet-stream"},
		}
		if _, err := f.w.CreatePart(head); err != nil {
			return err
		}
		f.flush()
		f.parts = append(f.parts, uploadReader(u))
	}
	return nil
}

// body completes the form and returns its body and its content type.
func (f *form) body() (io.Reader, string, error) {
	if err := f.w.Close(); err != nil {
		return nil, "", err
	}
	f.flush()
	return io.MultiReader(f.parts...), f.w.FormDataContentType(), nil
}

func (f *form) flush() {
	f.parts = append(f.parts, bytes.NewReader(bytes.Clone(f.text.Bytes())))
	f.text.Reset()
}

var quoteEscapes = strings.NewReplacer(`"`, "%22", "\r", "%0D", "\n", "%0A")

// disposition returns the Content-Disposition of a file part in the form that browsers send. If the file name is
// ambiguous in that form, it adds the exact name as filename*, which the server prefers.
//
//	form-data; name="files[]"; filename="Deed.pdf"
//	form-data; name="files[]"; filename="50%.pdf"; filename*=UTF-8''50%25.pdf
func disposition(name, filename string) string {
	head := `form-data; name="` + quoteEscapes.Replace(name) + `"; filename="` + quoteEscapes.Replace(filename) + `"`
	plain := func(r rune) bool { return r >= ' ' && r < 0x7f && !strings.ContainsRune(`"%\`, r) }
	if strings.ContainsFunc(filename, func(r rune) bool { return !plain(r) }) {
		exact := strings.ToValidUTF8(filename, string(utf8.RuneError))
		head += "; filename*=UTF-8''" + strings.ReplaceAll(url.QueryEscape(exact), "+", "%20")
	}
	return head
}

// uploadReader reads an upload and adds its file name to errors.
type uploadReader Upload

func (u uploadReader) Read(p []byte) (int, error) {
	if u.Reader == nil {
		return 0, fmt.Errorf("read %q: nothing to read from", u.Filename)
	}
	n, err := u.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("read %q: %w", u.Filename, err)
	}
	return n, err
}
