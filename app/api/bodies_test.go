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

// fieldPart returns the part of a multipart body for a field.
func fieldPart(name, value string) string {
	return bodyPart(fmt.Sprintf(`Content-Disposition: form-data; name="%s"`, name), value)
}

// filePart returns the part of a multipart body for a file.
func filePart(name, filename string, content string) string {
	return bodyPart(fmt.Sprintf("Content-Disposition: form-data; name=\"%s\"; filename=\"%s\"\r\nContent-Type: application/octet-stream",
		name, filename), content)
}

// bodyPart returns a part of a multipart body with the given headers and content.
func bodyPart(head, content string) string { return "--XX\r\n" + head + "\r\n\r\n" + content + "\r\n" }

// formBody returns a multipart body that consists of the given parts.
func formBody(list ...string) string { return strings.Join(list, "") + "--XX--\r\n" }

// pdf returns a PDF with the given number of pages.
func pdf(pages int) string { return string(vaulttest.PDF(pages, "secret testament")) }

// chunkedBody encodes body with the chunked transfer encoding. Each chunk has size bytes.
func chunkedBody(body string, size int) string {
	var b strings.Builder
	for len(body) > 0 {
		n := min(size, len(body))
		fmt.Fprintf(&b, "%x\r\n%s\r\n", n, body[:n])
		body = body[n:]
	}
	return b.String() + "0\r\n\r\n"
}
