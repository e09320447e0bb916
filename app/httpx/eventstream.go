package httpx

import (
	"bytes"
	"io"
)

// EventStreamMedia is the media type of an EventStream.
const EventStreamMedia = "text/event-stream"

// EventStream sends server-sent events (WHATWG HTML, "Server-sent events").
type EventStream struct {
	W     io.Writer
	Flush func() error // sends what was written to the client
}

// Send sends an event. kind may be "", and id "" leaves the client's last event ID as it is. data must not contain line
// breaks.
func (s EventStream) Send(id, kind string, data []byte) error {
	var b bytes.Buffer
	for _, field := range []struct{ name, value string }{{"id", id}, {"event", kind}, {"data", string(data)}} {
		if field.value != "" {
			b.WriteString(field.name + ": " + field.value + "\n")
		}
	}
	b.WriteByte('\n')
	return s.write(b.Bytes())
}

// Ping sends a comment, which clients ignore. It keeps proxies from closing the connection, and shows whether the client is
// still there.
func (s EventStream) Ping() error { return s.write([]byte(":\n\n")) }

func (s EventStream) write(p []byte) error {
	if _, err := s.W.Write(p); err != nil {
		return err
	}
	return s.Flush()
}
