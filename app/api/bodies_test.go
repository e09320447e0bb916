package api_test

import (
	"fmt"
	"strings"

	"deedkeep/app/vaulttest"
)

// Content-Type headers of request bodies.
const (
	asJSON = "Content-Type: application/json"
	asForm = "Content-Type: multipart/form-data; boundary=XX"
	asURL  = "Content-Type: application/x-www-form-urlencoded"
)

// field, file, and part each return one part of a multipart body; parts returns the body.
func field(name, value string) string {
	return part(fmt.Sprintf(`Content-Disposition: form-data; name="%s"`, name), value)
}

func file(name, filename string, content string) string {
	return part(fmt.Sprintf("Content-Disposition: form-data; name=\"%s\"; filename=\"%s\"\r\nContent-Type: application/octet-stream",
		name, filename), content)
}

func part(head, content string) string { return "--XX\r\n" + head + "\r\n\r\n" + content + "\r\n" }

func parts(list ...string) string { return strings.Join(list, "") + "--XX--\r\n" }

func pdf(pages int) string { return string(vaulttest.PDF(pages, "secret testament")) }

// chunked encodes a body in chunks of size bytes.
func chunked(body string, size int) string {
	var b strings.Builder
	for len(body) > 0 {
		n := min(size, len(body))
		fmt.Fprintf(&b, "%x\r\n%s\r\n", n, body[:n])
		body = body[n:]
	}
	return b.String() + "0\r\n\r\n"
}
